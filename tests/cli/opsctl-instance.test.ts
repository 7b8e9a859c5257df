// Tests how operators find instances of all tenants by name, address, tenant and host, and how they start, stop and
// delete these instances.
import { afterAll, beforeAll, expect, test } from "vitest";
import { addNode, type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner, serverOf } from "./at-control-plane.ts";
import type { Server } from "./fake-environment.ts";

let a: ComputeFixture;
let at: OpsctlRunner;
let id: string;
beforeAll(async () => {
  a = await openComputeFixture();
  at = opsctlAt(a.t);
  ({ id } = await a.running({ name: "web-1" }));
  await a.running({ name: "db-1" });
});
afterAll(() => a.t.close());

test("`instance list` finds instances by text, tenant, host and state", async () => {
  const { hostname } = {
    ...a.node,
    ...(await at.json<{ hostname: string }>(`cn show ${a.node.server_uuid}`)),
  };
  const names = async (words: string) => (await at.printed(`instance list ${words} -o name`)).trim().split("\n").sort();
  expect(await names("")).toEqual(["db-1", "web-1"]);
  expect(await names("web")).toEqual(["web-1"]);
  expect(await names(`--host ${hostname} --tenant ${a.tenant.tenant_id} --state running`)).toEqual(["db-1", "web-1"]);
  expect(await names("--state stopped")).toEqual([""]);
  const { items } = okOf(await a.t.call("GET", `/v1/nics?instance=${id}`));
  expect(await names(items[0].primary_ipv4)).toContain("web-1");
  const row = await at.printed("instance list web-1 -o csv --no-headers --columns name,id,state,host,tenant,addresses");
  const { name: tenant } = okOf(await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}/tenants/${a.tenant.tenant_id}`));
  const { name: silo } = okOf(await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}`));
  expect(row).toBe(
    `web-1,${id},running,${hostname},${silo}/${tenant},"${items[0].primary_ipv4},${items[0].primary_ipv6}"\n`,
  );
});

test("an instance is found by each of its addresses, but not by a part of an address", async () => {
  const { items } = okOf(await a.t.call("GET", `/v1/nics?instance=${id}`));
  for (const address of [items[0].primary_ipv4, items[0].primary_ipv6.toUpperCase()]) {
    expect((await at.json<{ id: string }>(`instance show ${address}`)).id).toBe(id);
  }
  expect((await at.run(`instance show ${items[0].primary_ipv4.slice(0, -1)}`)).code).toBe(3);
});

test("`search` finds an instance by a part of its name", async () => {
  expect(await at.printed("search web- -o csv --no-headers --columns kind,name,id")).toBe(`instance,web-1,${id}\n`);
  expect(await at.printed("search web- --kind instance -o csv --no-headers --columns id")).toBe(`${id}\n`);
  expect(await at.printed("search web- --kind vpc")).toBe("(nothing found)\n");
  expect(await at.printed("search no-such-thing")).toBe("(nothing found)\n");
});

test("`instance delete` of a protected instance names the command that removes the protection", async () => {
  const patch = (deletion_protection: boolean) =>
    a.t.call("PATCH", `/v1/instances/${id}`, { body: { deletion_protection } });
  okOf(await patch(true));
  const refused = await at.run("instance delete web-1 --yes");
  expect(refused.code).toBe(5);
  expect(refused.err()).toContain(
    "web-1 is protected against deletion; first run: tenantctl instance update web-1 --protection off (",
  );
  okOf(await patch(false));
});

test("an instance is shown, stopped, started and deleted by its name", async () => {
  const own = okOf(await a.t.call("GET", `/v1/instances/${id}`));
  expect(await at.json(`instance show ${id}`)).toEqual(own);
  for (const name of ["web-1", id]) {
    const shown = await at.printed(`instance show ${name}`);
    expect(shown).toMatch(/^state: +running$/m);
    expect(shown).toMatch(/^addresses: +10\.\d+\.\d+\.\d+, /m);
    expect(shown).toMatch(new RegExp(`^host: +\\S+ \\(${a.node.server_uuid}\\)$`, "m"));
    expect(shown).toMatch(new RegExp(`^tenant: +\\S+/\\S+ \\(${a.tenant.tenant_id}\\)$`, "m"));
    expect(shown).toMatch(new RegExp(`^project: +\\S+ \\(${a.tenant.project_id}\\)$`, "m"));
  }
  const [stopped] = await Promise.all([at.printed("instance stop web-1"), a.node.does("stop")]);
  expect(stopped).toBe(`Instance web-1 (${id}) is stopped\n`);
  const [started] = await Promise.all([at.printed(`instance start ${id.slice(0, -1)}`), a.node.does("start")]);
  expect(started).toBe(`Instance web-1 (${id}) is running\n`);

  const unasked = await at.run("instance delete web-1");
  expect([unasked.code, unasked.out()]).toEqual([2, ""]);
  const refused = await at.run("instance delete web-1 --yes");
  expect([refused.code, refused.out()]).toEqual([5, ""]);
  const pending = await at.json<{ id: string; kind: string }>("instance stop web-1 --no-wait");
  await Promise.all([at.printed(`operation wait ${pending.id.slice(0, -1)}`), a.node.does("stop")]);
  const [deleted] = await Promise.all([at.printed("instance delete web-1 --yes"), a.node.does("delete")]);
  expect(deleted).toBe(`Deleted instance web-1 (${id})\n`);
  expect((await at.run("instance show web-1")).code).toBe(3);
});

test("`instance reset` waits for the operation, even if the answer to the request is lost", async () => {
  const { id: web } = await a.running({ name: "web-2" });
  const real = serverOf(a.t);
  const running = async () => okOf(await a.t.call("GET", "/v1/operations?state=running")).items;
  let requests = 0;
  let reset: Promise<unknown> | undefined;
  const server: Server = async (asked, signal) => {
    // The node acts only when the command waits for the operation.
    if (asked.path.startsWith("/v1/operations/")) reset ??= a.node.does("reset");
    const answer = Promise.resolve(real(asked, signal));
    if (!asked.path.endsWith("/reset") || ++requests > 1) return await answer;
    answer.catch(() => {});
    await expect.poll(running).toHaveLength(1);
    throw new TypeError("fetch failed", { cause: new Error("connection reset") });
  };
  const { code, out, err } = await at.run(`instance reset ${web}`, { server });
  expect([code, out(), err()]).toEqual([0, "Instance web-2 was reset.\n", ""]);
  expect(requests).toBe(2);
  await reset;
});

test("`instance reset` fails with the node's reason", async () => {
  const { id: web } = await a.running({ name: "web-3" });
  const failing = a.node.take().then((job) => a.node.fail(job, "QEMU does not answer"));
  const [{ code, err }] = await Promise.all([at.run(`instance reset ${web}`), failing]);
  expect(code).toBe(1);
  expect(err()).toContain("QEMU does not answer");
});

test("`cn evacuate --dry-run` names the option --lose-local-disks, and not the API's field lose_local_disks", async () => {
  await a.running({ name: "stays" });
  await addNode(a.t, {}, { hostname: "spare" });
  const plan = await at.printed(`cn evacuate ${a.node.server_uuid} --dry-run`);
  expect(plan).toContain("or evacuate it with --lose-local-disks, which creates the instance on spare");
  expect(plan).not.toContain("lose_local_disks");
});
