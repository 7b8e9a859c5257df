// Tests the list of nodes, which the console shows in parts (windows), and the summary of the fleet.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { newLogin } from "./login.ts";

type Row = { readonly server_uuid: string; readonly hostname: string; readonly [column: string]: unknown };

let t: TestControlPlane;
let live: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  const sysinfo = (serial: string, cpus: number) => ({
    "Serial Number": serial,
    Product: "R740",
    "CPU Count": cpus,
    "MiB of Memory": "65536",
  });
  await t.register({ hostname: "rack1-a", admin_ip: "192.0.2.31", sysinfo: sysinfo("SER_A", 16) });
  await t.register({ hostname: "rack1-b", sysinfo: sysinfo("SERXB", 64) });
  await t.register({ hostname: "rack2-a", sysinfo: { "CPU Count": "many" } });
  const node = await t.approvedNode({ hostname: "rack2-b", sysinfo: sysinfo("SER_D", 32) });
  await t.approvedNode({ hostname: "rack2-silent" });
  live = node.server_uuid;
  await t.advance(CN_LIVE_S + 1);
  okOf(await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key, body: {} }));
  await vi.waitUntil(async () => (await list("live=true")).items.length === 1);
});
afterAll(() => t.close());

async function list(query = ""): Promise<{ items: Row[]; total: number }> {
  return okOf(await t.call("GET", `/v1/system/nodes?${query}`));
}
const names = async (query: string) => (await list(query)).items.map(({ hostname }) => hostname);

test("a row has the columns of the console's list and the node's problem", async () => {
  const { items, total } = await list();
  expect(total).toBe(5);
  expect(items.find(({ hostname }) => hostname === "rack1-a")).toEqual({
    server_uuid: expect.any(String),
    hostname: "rack1-a",
    state: "pending",
    role: "tenant",
    live: false,
    admin_ip: "192.0.2.31",
    serial: "SER_A",
    model: "R740",
    cpu_threads: 16,
    ram_mb: 65_536,
    instances: 0,
    labels: {},
    last_seen: null,
    registered_at: expect.stringMatching(/Z$/),
    problem: null,
  });
  expect(items.find(({ hostname }) => hostname === "rack2-silent")?.problem).toBe("not seen lately");
  expect(items.find(({ server_uuid }) => server_uuid === live)).toMatchObject({ live: true, problem: null });
});

describe("a search", () => {
  test.each([
    ["a hostname", "q=RACK1", ["rack1-a", "rack1-b"]],
    ["a serial with an underscore, which is not a wildcard", "q=ser_", ["rack1-a", "rack2-b"]],
    ["an address", "q=192.0.2.31", ["rack1-a"]],
    ["a percent sign, which is not a wildcard", "q=%25", []],
    ["a state", "state=approved", ["rack2-b", "rack2-silent"]],
    ["a hostname and a state", "q=rack2&state=pending", ["rack2-a"]],
    ["live nodes", "live=true", ["rack2-b"]],
    ["a role", "role=edge", []],
  ])("for %s finds exactly the matching nodes", async (_what, query, expected) => {
    expect(await names(query)).toEqual(expected);
    expect((await list(query)).total).toBe(expected.length);
  });

  test("for a part of a UUID finds the node", async () => {
    expect(await names(`q=${live.slice(0, 13).toUpperCase()}`)).toEqual(["rack2-b"]);
  });
});

describe("a sort", () => {
  test("puts rows without a value last in both directions", async () => {
    expect((await names("sort=cpu_threads")).slice(0, 3)).toEqual(["rack1-a", "rack2-b", "rack1-b"]);
    expect((await names("sort=-cpu_threads")).slice(0, 3)).toEqual(["rack1-b", "rack2-b", "rack1-a"]);
  });

  test("by any column returns each node once", async () => {
    for (const column of ["state", "role", "admin_ip", "serial", "ram_mb", "instances", "last_seen", "problem"]) {
      expect(new Set(await names(`sort=-${column}`)).size).toBe(5);
    }
  });

  test("by an unknown column is refused", async () => {
    expect((await t.call("GET", "/v1/system/nodes?sort=sysinfo")).status).toBe(400);
  });
});

test("consecutive windows together are the whole list, and a window beyond the end has the total, too", async () => {
  const parts = await Promise.all([0, 2, 4].map((offset) => list(`sort=-hostname&offset=${offset}&limit=2`)));
  expect(parts.flatMap(({ items }) => items)).toEqual((await list("sort=-hostname")).items);
  expect(await list("offset=100")).toEqual({ items: [], total: 5 });
});

test("a user with system-read can read the list and the summary; another user gets 404", async () => {
  const reader = await newLogin(t, { capabilities: ["system-read"] });
  const other = await newLogin(t);
  for (const path of ["/v1/system/nodes", "/v1/system/summary"]) {
    expect((await t.call("GET", path, { key: reader.token })).status).toBe(200);
    expect((await t.call("GET", path, { key: other.token })).status).toBe(404);
  }
});

test("the summary counts nodes, instances, operations, claims, conflicts and tenants", async () => {
  okOf(await t.call("POST", "/v1/silos", { body: { name: `s-${randomUUID()}` } }));
  const summary = okOf(await t.call("GET", "/v1/system/summary"));
  expect(summary).toEqual({
    nodes: { by_state: { approved: 2, pending: 3 }, silent: 1 },
    instances: {},
    operations: { running: 0, stuck: 0 },
    claims: 3,
    conflicts: 0,
    tenants: 1,
  });
});
