// Tests the reports of node agents (docs/nodes.md).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { AGENT_VERSION_CHARS_MAX } from "../../src/contract/limits.ts";
import { capacity } from "./bodies.ts";

type Node = Awaited<ReturnType<TestControlPlane["approvedNode"]>>;

let t: TestControlPlane;
let node: Node;
beforeAll(async () => {
  t = await openTestControlPlane();
  node = await t.approvedNode();
});
afterAll(() => t.close());

const report = (what: string, body?: unknown, key = node.api_key) => t.call("POST", `/v1/agent/${what}`, { key, body });
const show = async (server_uuid = node.server_uuid) => (await t.call("GET", `/v1/system/cns/${server_uuid}`)).body;

test.each([
  ["heartbeat", undefined],
  ["status", { payload: { pools: [] } }],
  ["capacity", capacity()],
])("a %s report gets 200 with the body null and sets last_seen to the server's time", async (what, body) => {
  await t.advance(10);
  const before = (await show()).last_seen;
  const answer = await report(what, body);
  expect([answer.status, answer.text]).toEqual([200, "null"]);
  const after = (await show()).last_seen;
  expect(Date.parse(after) - Date.parse(before ?? "1970-01-01")).toBeGreaterThanOrEqual(10_000);
});

test("last_status is exactly the payload of the last status report, for any JSON value", async () => {
  for (const payload of [{ a: 1, deep: { b: [1, null, "x"] } }, { c: 2 }, [], "text", 0, false, null]) {
    expect((await report("status", { payload })).status).toBe(200);
    expect((await show()).last_status).toEqual(payload);
  }
});

test("a capacity report replaces the previous report, and fields that an old agent omits get defaults", async () => {
  await report("capacity", { ...capacity(), tsc_offset_ns: -5 });
  await report("capacity", capacity());
  const { rows } = await t.db.query("select report from cn_capacity where server_uuid = $1", [node.server_uuid]);
  expect(rows[0].report).toEqual({
    ...capacity(),
    ram_available_mb: 0,
    cpu_utilization_pct: 0,
    hvm_supported: false,
    vmm_protocol_version: null,
    agent_version: null,
    cpu_features: [],
    tsc_offset_ns: null,
    zpool_props: {},
  });
});

test("the list of nodes shows the version that the agent reported last", async () => {
  const listed = async () => {
    const { items } = (await t.call("GET", "/v1/system/cns")).body;
    return items.find((each: { server_uuid: string }) => each.server_uuid === node.server_uuid).agent_version;
  };
  await report("capacity", { ...capacity(), agent_version: "1.4.0" });
  expect(await listed()).toBe("1.4.0");
  await report("capacity", { ...capacity(), agent_version: "1.5.0" });
  await report("heartbeat");
  expect([await listed(), (await show()).agent_version]).toEqual(["1.5.0", "1.5.0"]);
  // An old agent reports no version. After a downgrade to such an agent, the version of the newer agent must not be
  // shown.
  await report("capacity", capacity());
  expect(await listed()).toBeNull();
});

test("null in an optional field of a capacity report means the same as a missing field", async () => {
  const optional = ["ram_available_mb", "cpu_utilization_pct", "hvm_supported", "vmm_protocol_version", "cpu_features"];
  const nulls = Object.fromEntries(
    [...optional, "tsc_offset_ns", "zpool_props", "agent_version"].map((field) => [field, null]),
  );
  const stored =
    async () => (await t.db.query("select report from cn_capacity where server_uuid = $1", [node.server_uuid]));
  await report("capacity", capacity());
  const { rows: [absent] } = await stored();
  expect((await report("capacity", { ...capacity(), ...nulls })).status).toBe(200);
  expect((await stored()).rows).toEqual([absent]);
});

describe("a capacity report is refused", () => {
  test.each([
    ["cpu_utilization_pct", 1.01],
    ["cpu_cores_physical", -1],
    ["cpu_cores_physical", 1.5],
    ["ram_total_mb", "many"],
    ["zpools", [{ name: "z", total_bytes: 1, free_bytes: 1, tier: "tape" }]],
    ["devices", [{ kind: "toaster", model: "x", free_count: 1 }]],
    ["platform_version", undefined],
    ["agent_version", "1".repeat(AGENT_VERSION_CHARS_MAX + 1)],
  ])("when %s is %j", async (field, value) => {
    const answer = await report("capacity", { ...capacity(), [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(field);
  });
});

test("unknown fields are ignored in every report", async () => {
  expect((await report("heartbeat", { new_field: 1 })).status).toBe(200);
  expect((await report("status", { payload: 1, new_field: 1 })).status).toBe(200);
  expect((await report("capacity", { ...capacity(), new_field: 1 })).status).toBe(200);
});

test("S-13: a report that names another node does not change that node", async () => {
  const other = await t.approvedNode();
  const before = await show(other.server_uuid);
  await report("status", { payload: { mine: 1 }, server_uuid: other.server_uuid });
  await t.call("POST", `/v1/agent/heartbeat?server_uuid=${other.server_uuid}`, { key: node.api_key });
  expect(await show(other.server_uuid)).toEqual(before);
});

test("each of many concurrent reports from different nodes is stored before its answer", async () => {
  const nodes = await Promise.all(Array.from({ length: 20 }, () => t.approvedNode()));
  await Promise.all(nodes.map((each, index) => report("status", { payload: { index } }, each.api_key)));
  for (const [index, each] of nodes.entries()) expect((await show(each.server_uuid)).last_status).toEqual({ index });
});

test("when one node sends many reports concurrently, the report that it sent last is stored", async () => {
  await Promise.all(Array.from({ length: 50 }, (_, index) => report("status", { payload: { index } })));
  expect((await show()).last_status).toEqual({ index: 49 });
});

test("reports are not audited", async () => {
  const head = async () => (await t.call("GET", "/v1/audit/events?limit=1")).body.head.seq;
  await report("heartbeat");
  const before = await head();
  await report("heartbeat");
  await report("status", { payload: 1 });
  await report("capacity", capacity());
  await t.call("GET", "/v1/agent/config", { key: node.api_key });
  expect(await head()).toBe(before);
});

test("the agent of a removed node gets 401, and its reports do not create the node's row in cn_signal again", async () => {
  const gone = await t.approvedNode();
  await t.call("POST", `/v1/cns/${gone.server_uuid}/disable`);
  const [removed] = await Promise.all([
    t.call("DELETE", `/v1/cns/${gone.server_uuid}`),
    ...Array.from({ length: 10 }, () => report("heartbeat", undefined, gone.api_key)),
  ]);
  expect(removed.status).toBe(204);
  expect((await report("heartbeat", undefined, gone.api_key)).status).toBe(401);
  const { rows } = await t.db.query("select from cn_signal where server_uuid = $1", [gone.server_uuid]);
  expect(rows).toHaveLength(0);
});
