// Tests the admin_ip of netbooted nodes, which is the address of the port that the machine booted from. The agent's
// registrations do not change it, and a migration sets it for nodes that were set up earlier.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { onNode, putPolicy, report, settingUp, setUp, showNode, showRecord } from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
});
afterAll(() => t.close());

test("admin_ip is the address of the port that the booter reports, otherwise of the first port with an address", async () => {
  const named = await settingUp(t);
  const [, second] = named.macs;
  const { address } = await showRecord(t, second);
  okOf(await report(t, named, "complete", { epoch: named.epoch, mac: second?.toUpperCase() }));
  expect(await showNode(t, named)).toMatchObject({ state: "approved", admin_ip: address });

  const unnamed = await setUp(t);
  expect((await showNode(t, unnamed)).admin_ip).toBe((await showRecord(t, unnamed.macs[0])).address);
});

test("a malformed mac in the completion report gets 400 and does not end the setup; another node's mac is ignored", async () => {
  const run = await settingUp(t);
  const refused = await report(t, run, "complete", { epoch: run.epoch, mac: "port 1" });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("mac")]);
  expect((await showNode(t, run)).state).toBe("setting_up");
  const other = await setUp(t);
  okOf(await report(t, run, "complete", { epoch: run.epoch, mac: other.macs[0] }));
  expect((await showNode(t, run)).admin_ip).toBe((await showRecord(t, run.macs[0])).address);
});

test("the agent's registrations do not change admin_ip, with or without an address", async () => {
  const run = await setUp(t);
  const { admin_ip, hostname, sysinfo } = await showNode(t, run);
  for (const reported of [undefined, "192.0.2.9"]) {
    const body = { server_uuid: run.server_uuid, hostname, sysinfo, admin_ip: reported };
    okOf(await t.call("POST", "/v1/agent/register", { key: run.api_key, body }));
    expect((await showNode(t, run)).admin_ip).toBe(admin_ip);
  }
  expect(okOf(await t.call("GET", "/v1/agent/config", { key: run.api_key }))).toMatchObject({
    state: "approved",
    admin_ip,
  });
});

test("the migration sets admin_ip of approved and disabled nodes that were set up before, and of no other node", async () => {
  const [approved, disabled, own, claimed] = [await setUp(t), await setUp(t), await setUp(t), await t.approvedNode()];
  okOf(await onNode(t, "POST", disabled, "/disable"));
  const before = await Promise.all([approved, disabled].map((each) => showNode(t, each)));
  await t.db.query("update cn set admin_ip = null where server_uuid = any($1)", [
    [approved.server_uuid, disabled.server_uuid],
  ]);
  await t.db.query("update cn set admin_ip = '192.0.2.44' where server_uuid = $1", [own.server_uuid]);
  await t.db.query(await readFile(new URL("../../migrations/0038_admin_address.sql", import.meta.url), "utf8"));
  expect(await Promise.all([approved, disabled].map((each) => showNode(t, each)))).toEqual(before);
  expect((await showNode(t, own)).admin_ip).toBe("192.0.2.44");
  expect((await showNode(t, claimed)).admin_ip).toBeNull();
});
