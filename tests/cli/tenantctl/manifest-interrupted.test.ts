// Tests `apply` of a manifest while an instance of an interrupted run is still being created, with a real control
// plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT, type Server } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

const NOTHING = "0 to create, 0 to change, 0 to replace, 0 to delete, 1 unchanged\n";

let a: ComputeFixture;
/** The instance that is being created. */
let id: string;
let manifest: string;

beforeAll(async () => {
  a = await openComputeFixture();
  expect((await run(`vpc update ${a.vpc.id} --name net`)).code).toBe(0);
  await a.newImage({ name: "debian" });
});
afterAll(() => a?.t.close());

beforeEach(async () => {
  const name = `web-${randomUUID().slice(0, 8)}`;
  const size = "cpu: 1, memory_bytes: 1GiB";
  manifest = `instances: [{ name: ${name}, image: debian, vpc: net, primary_subnet: front, ${size} }]`;
  const created = await run(
    `instance create --name ${name} --image-id debian --vpc net --primary-subnet-id front --cpu 1 --memory 1GiB --no-wait -o json`,
  );
  expect(created.code, created.err()).toBe(0);
  id = JSON.parse(created.out()).references.find(({ scope }: { scope: string }) => scope === "instance").id;
});

function run(argv: string, typed = "", server: Server = serverOf(a.t)): Promise<Ran> {
  const { key, tenant_id, project_id } = a.tenant;
  const scope = { TENANTCTL_TENANT: tenant_id, TENANTCTL_PROJECT: project_id };
  const env = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: key, ...scope, NO_COLOR: "1" };
  return tenantctl(argv.split(" "), { env, server, newId: randomUUID, isTTY: false, typed });
}

/** Runs `apply`. When it asks for the instance's operations a second time, calls `then`. */
async function applyAndThen(then: () => Promise<unknown>, text = manifest): Promise<Ran> {
  const server = serverOf(a.t);
  let asked = 0;
  let done: Promise<unknown> | null = null;
  const ran = await run("apply -f - -o table", text, (request, signal) => {
    if (request.path === "/v1/operations" && ++asked === 2) done = then();
    return server(request, signal);
  });
  expect(done, "apply waits").not.toBeNull();
  await done;
  return ran;
}

test("apply waits for the end of the creation, and then changes nothing", async () => {
  const ran = await applyAndThen(() => a.node.does("provision"));
  expect([ran.code, ran.out()], ran.err()).toEqual([0, NOTHING]);
  expect(ran.err()).toMatch(/^waiting for instance web-\w+, whose operation instance-create has not ended$/m);
  expect((await a.show(id)).lifecycle.state).toBe("running");
});

test("apply creates the instance again if its creation fails", async () => {
  const ran = await applyAndThen(async () => {
    const job = await a.node.take();
    await a.node.fail(job, "the disk is full");
    await a.node.bury(job);
    await a.node.does("provision");
  });
  expect(ran.code, ran.err()).toBe(0);
  expect(ran.out()).toContain("1 created");
});

test("apply waits for a deletion, and then creates the instance of the manifest again", async () => {
  await a.node.does("provision");
  await expect.poll(async () => (await a.show(id)).lifecycle.state).toBe("running");
  await a.act(id, "stop", "stop");
  expect((await run(`instance delete ${id} --no-wait --yes`)).code).toBe(0);
  const ran = await applyAndThen(async () => {
    await a.node.does("delete");
    await a.node.does("provision");
  });
  expect([ran.code, ran.out()], ran.err()).toEqual([0, expect.stringContaining("1 created")]);
});

test("apply waits before it compares fixed fields: if the creation fails, apply creates the instance with the new value", async () => {
  const larger = manifest.replace("memory_bytes: 1GiB", "memory_bytes: 2GiB");
  const ran = await applyAndThen(async () => {
    const job = await a.node.take();
    await a.node.fail(job, "the disk is full");
    await a.node.bury(job);
    await a.node.does("provision");
  }, larger);
  expect([ran.code, ran.out()], ran.err()).toEqual([0, expect.stringContaining("1 created")]);
});

test("apply creates the other records, and fails after 10 minutes if the operation has not ended", async () => {
  const ran = await run("apply -f - -o table", `${manifest}\nfloating_ips: [{ name: ip-of-${id.slice(0, 8)} }]`);
  expect(ran.code).toBe(1);
  expect(ran.out()).toContain("1 created");
  expect(ran.err()).toMatch(
    /^error: the operation instance-create of instance web-\w+ has not ended; run the command again later$/m,
  );
  expect(ran.slept_ms.reduce((sum, each) => sum + each, 0)).toBe(600_000);
  await a.node.does("provision");
});

test("apply creates an instance again if the instance disappears after apply has read the project", async () => {
  const server = serverOf(a.t);
  let done: Promise<unknown> | null = null;
  const ran = await run("apply -f - -o table", manifest, async (request, signal) => {
    if (request.path === "/v1/operations" && done === null) {
      const job = await a.node.take();
      await a.node.fail(job, "the disk is full");
      await a.node.bury(job);
      await expect.poll(async () => (await a.call("GET", `/v1/instances/${id}`)).status).toBe(404);
      done = a.node.does("provision");
    }
    return await server(request, signal);
  });
  await done;
  expect([ran.code, ran.out()], ran.err()).toEqual([0, expect.stringContaining("1 created")]);
});

test("apply --dry-run and diff do not wait", async () => {
  for (const argv of ["apply -f - --dry-run -o table", "diff -f - -o table"]) {
    const ran = await run(argv, manifest);
    expect([ran.code, ran.out(), ran.err()]).toEqual([0, NOTHING, ""]);
  }
  await a.node.does("provision");
});
