// Runs `opsctl cn doctor` against a control plane. tests/lib/node-findings.test.ts tests every finding.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let a: ComputeFixture;
let at: OpsctlRunner;
let id: string;
beforeAll(async () => {
  a = await openComputeFixture();
  at = opsctlAt(a.t);
  id = a.node.server_uuid;
  okOf(await a.node.call("POST", "/v1/agent/status", { payload: {} }));
});
afterAll(() => a.t.close());

const seen = (ago_s: number) =>
  a.t.db.query("update cn_signal set last_seen = berth_now() - make_interval(secs => $2) where server_uuid = $1", [
    id,
    ago_s,
  ]);

test("`cn doctor` exits 0 on a usable node", async () => {
  await seen(1);
  const ran = await at.run(`cn doctor ${id}`);
  expect(ran.out()).toContain(", approved, is usable\n");
  expect([ran.code, ran.err()]).toEqual([0, ""]);
});

test("`cn doctor` finds a silent node by the server's clock, exits 1 and names a next step", async () => {
  await seen(600);
  const ran = await at.run(`cn doctor ${id}`);
  expect([ran.code, ran.err()]).toEqual([1, "error: not usable: 1 problem\n"]);
  expect(ran.out()).toMatch(
    /, approved, is not usable\n\nSTOPS {2}its agent sent its last heartbeat 10 min ago\n {7}-> check the node agent/,
  );
  await seen(1);
});

test("`cn doctor` of a cordoned node shows the reason of the cordon and the command that ends the cordon", async () => {
  const { hostname } = okOf(await a.t.call("GET", `/v1/system/cns/${id}`));
  await at.printed(["cn", "placement", "set", id, "--cordoned", "true", "--cordoned-reason", "new fan"]);
  const ran = await at.run(`cn doctor ${id} --json`);
  expect(ran.code).toBe(1);
  const mend = `opsctl cn uncordon ${hostname}`;
  expect(JSON.parse(ran.out())).toMatchObject({
    server_uuid: id,
    usable: false,
    findings: expect.arrayContaining([
      { level: "stops", text: "it is cordoned (new fan): no new instance is placed on it", mend },
    ]),
  });
  await at.printed(mend.split(" ").slice(1));
  expect((await at.run(`cn doctor ${id}`)).code).toBe(0);
});

test("`cn doctor` of a node with an expired claim code does not recommend the code", async () => {
  const { server_uuid } = await a.t.register();
  const waiting = await at.run(`cn doctor ${server_uuid}`);
  expect(waiting.out()).toMatch(/-> opsctl cn approve [0-9A-Z]{3}-[0-9A-Z]{3}\n/);
  await a.t.db.query(
    "update enrolment_claim set expires_at = berth_now() - interval '1 second' where server_uuid = $1",
    [server_uuid],
  );
  const expired = await at.run(`cn doctor ${server_uuid}`);
  expect(expired.out()).toContain("its claim code has expired");
  expect(expired.out()).not.toContain("opsctl cn approve");
});

test("`cn doctor` of an unknown MAC exits 3", async () => {
  const unseen = await at.run("cn doctor 02:00:00:00:00:77");
  expect([unseen.code, unseen.err()]).toEqual([
    3,
    "error: no booter has seen 02:00:00:00:00:77, and no compute node has this name\n",
  ]);
});
