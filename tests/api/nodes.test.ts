// Tests how operators read and administer compute nodes (docs/nodes.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CN_STATES } from "../../src/contract/enums.ts";
import { encodePageToken } from "../../src/lib/ids/page-token.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { insertInstance } from "../support/instance-row.ts";
import { bareMachine } from "./bare-machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const show = async (server_uuid: string) => (await t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
const act = (server_uuid: string, verb: string, body?: unknown) =>
  t.call("POST", `/v1/cns/${server_uuid}/${verb}`, { body });
const remove = (server_uuid: string) => t.call("DELETE", `/v1/cns/${server_uuid}`);
describe("lists", () => {
  test("a list without limit has all nodes, of all five states, in the order of registration", async () => {
    const nodes = [await t.register(), await t.register(), await t.register()];
    await t.approve(nodes[1]?.claim_code ?? "");
    await act(nodes[2]?.server_uuid ?? "", "disable");
    const bare = [await bareMachine(t, "awaiting_setup"), await bareMachine(t, "setting_up")];
    const ids = [...nodes.map(({ server_uuid }) => server_uuid), ...bare];
    const { body } = await t.call("GET", "/v1/system/cns");
    expect(Object.keys(body)).toEqual(["items"]);
    const states = body.items.map((cn: { state: string }) => cn.state);
    expect(states).toEqual(["pending", "approved", "disabled", "awaiting_setup", "setting_up"]);
    expect(body.items.map((cn: { server_uuid: string }) => cn.server_uuid)).toEqual(ids);
  });

  test.each(CN_STATES)("state=%s lists only nodes in this state", async (state) => {
    const { items } = (await t.call("GET", `/v1/system/cns?state=${state}`)).body;
    expect(items.length).toBeGreaterThan(0);
    expect(new Set(items.map((cn: { state: string }) => cn.state))).toEqual(new Set([state]));
  });

  const year0 = encodePageToken({ registered_at: "0000-01-01T00:00:00Z", server_uuid: randomUUID() });

  test.each([
    ...["state=gone", "state=", "state=APPROVED", "limit=0", "limit=1001", "limit=x", "page_token=made-up"],
    `page_token=${year0}`,
  ])(
    "the query %s gets 400",
    async (query) => {
      expect((await t.call("GET", `/v1/system/cns?${query}`)).status).toBe(400);
    },
  );

  test("the pages contain each row once, and the last page has no next_page", async () => {
    for (let index = 0; index < 3; index++) await t.register();
    const whole = (await t.call("GET", "/v1/system/cns")).body.items;
    const seen = [];
    for (let token = "";;) {
      const { body } = await t.call("GET", `/v1/system/cns?limit=3${token}`);
      expect(body.items.length).toBeLessThanOrEqual(3);
      seen.push(...body.items);
      if (body.next_page === undefined) break;
      token = `&page_token=${encodeURIComponent(body.next_page)}`;
    }
    expect(seen).toEqual(whole);
  });

  test("a list of more than 10,000 rows is refused if the request has no limit, and can be read in pages", async () => {
    await t.db.query(
      `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at)
       select gen_random_uuid(), gen_random_uuid(), 1, 'awaiting_setup', 'n', 'tenant', '{}', berth_now()
         from generate_series(1, 10000)`,
    );
    const answer = await t.call("GET", "/v1/system/cns");
    expect(answer).toMatchObject({ status: 400, body: { error_code: "ScanLimitExceeded" } });
    expect(answer.body.message).toContain("10000");
    expect((await t.call("GET", "/v1/system/cns?limit=1000")).body.items).toHaveLength(1_000);
    await t.db.query("delete from cn where hostname = 'n'");
  });
});

describe("disable", () => {
  test("a disabled node keeps the id of its key, and the key stays valid", async () => {
    const node = await t.approvedNode();
    const before = await show(node.server_uuid);
    const answer = await act(node.server_uuid, "disable");
    expect(answer).toMatchObject({
      status: 200,
      body: { state: "disabled", bound_api_key_id: before.bound_api_key_id, claim_code: null },
    });
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(200);
  });

  test("disabling a disabled node succeeds", async () => {
    const { server_uuid } = await t.register();
    const first = await act(server_uuid, "disable");
    expect(await act(server_uuid, "disable")).toMatchObject({ status: 200, body: first.body });
  });

  test("disabling a pending node deletes its claim code", async () => {
    const { server_uuid, claim_code } = await t.register();
    expect((await act(server_uuid, "disable")).body).toMatchObject({ state: "disabled", claim_code: null });
    expect((await t.approve(claim_code)).status).toBe(404);
  });

  test.each(["awaiting_setup", "setting_up"] as const)(
    "disabling a node in %s gets 409 with the state",
    async (state) => {
      const server_uuid = await bareMachine(t, state);
      expect(await act(server_uuid, "disable")).toMatchObject({
        status: 409,
        body: { message: `cn is ${state}; only an approved or pending node can be disabled`, error_code: "Conflict" },
      });
    },
  );
});

test.each(["tenant", "edge", "both"])("the role %s is set and shown", async (role) => {
  const { server_uuid } = await t.register();
  expect(await act(server_uuid, "role", { role })).toMatchObject({ status: 200, body: { role } });
  expect((await show(server_uuid)).role).toBe(role);
});

describe("reservoir", () => {
  test("null and absent fields inherit the cluster's default, and the body replaces the whole override", async () => {
    const { server_uuid } = await t.register();
    const set = (body: unknown) => act(server_uuid, "reservoir", body);
    expect((await set({ reservoir_enabled: false, reservoir_percent: 0.25 })).body).toEqual({
      server_uuid,
      reservoir_enabled: false,
      reservoir_percent: 0.25,
      effective_enabled: false,
      effective_percent: 0.25,
    });
    expect((await set({ reservoir_percent: 0.5 })).body).toEqual({
      server_uuid,
      reservoir_enabled: null,
      reservoir_percent: 0.5,
      effective_enabled: true,
      effective_percent: 0.5,
    });
    expect((await set({ reservoir_enabled: null, reservoir_percent: null })).body).toMatchObject({
      effective_enabled: true,
      effective_percent: 0.8,
    });
  });

  test.each([-1, 0, 1, 7.5])("the percent %d is stored unchanged", async (reservoir_percent) => {
    const { server_uuid } = await t.register();
    const answer = await act(server_uuid, "reservoir", { reservoir_enabled: true, reservoir_percent });
    expect(answer).toMatchObject({ status: 200, body: { reservoir_percent, effective_percent: reservoir_percent } });
  });

  test("the agent of a node without an override gets the cluster's defaults; an overridden value replaces its default", async () => {
    const node = await t.approvedNode();
    await t.call("PUT", "/v1/config/reservoir.percent_default", { body: { value: 0.33 } });
    await t.call("PUT", "/v1/config/reservoir.enabled_default", { body: { value: false } });
    const config = () => t.call("GET", "/v1/agent/config", { key: node.api_key });
    expect((await config()).body).toMatchObject({ reservoir_enabled: false, reservoir_percent: 0.33 });
    await act(node.server_uuid, "reservoir", { reservoir_percent: 0.9 });
    expect((await config()).body).toMatchObject({ reservoir_enabled: false, reservoir_percent: 0.9 });
    await t.call("DELETE", "/v1/config/reservoir.percent_default");
    await t.call("DELETE", "/v1/config/reservoir.enabled_default");
  });
});

describe("remove", () => {
  test("the record, its key and its child rows are deleted; removing again succeeds", async () => {
    const node = await t.approvedNode();
    await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload: 1 } });
    await act(node.server_uuid, "reservoir", { reservoir_percent: 0.5 });
    await act(node.server_uuid, "disable");
    expect(await remove(node.server_uuid)).toMatchObject({ status: 204, text: "" });
    expect(await remove(node.server_uuid)).toMatchObject({ status: 204 });
    expect((await t.call("GET", `/v1/system/cns/${node.server_uuid}`)).status).toBe(404);
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(401);
    for (const table of ["cn_signal", "cn_placement", "cn_capacity"]) {
      const { rows } = await t.db.query(`select from ${table} where server_uuid = $1`, [node.server_uuid]);
      expect(rows).toHaveLength(0);
    }
    const { events } = (await t.call("GET", "/v1/audit/events?limit=1000")).body;
    expect(events.filter((event: { resource: string }) => event.resource === `Cn::"${node.server_uuid}"`).length)
      .toBeGreaterThanOrEqual(3);
  });

  test.each([
    ["approved", "cn is approved; disable it before removing"],
    ["setting_up", "cn is setting_up; wait for setup to finish or fail before removing"],
  ])("a node in %s gets 409 with the specified text", async (state, message) => {
    const server_uuid = state === "approved"
      ? (await t.approvedNode()).server_uuid
      : await bareMachine(t, "setting_up");
    expect(await remove(server_uuid)).toMatchObject({ status: 409, body: { message } });
  });

  test.each([
    [
      insertInstance({ id: "$2", state: "'running'", host_cn_uuid: "$1::uuid" }),
      "delete from instance",
      "instances are still placed on this node; delete or migrate them first",
    ],
    [
      "insert into placement_reservation values ($1, $2, $2, berth_now() + interval '1 minute')",
      "delete from placement_reservation",
      "a placement reservation is in flight for this node",
    ],
    [
      "insert into migration values ($2, 'running', gen_random_uuid(), $1, gen_random_uuid())",
      "update migration set state = 'completed'",
      "a migration involving this node is in flight; wait for it to finish or abort it",
    ],
  ])("a node that is in use (%s) gets 409 with the reason", async (put, take, message) => {
    const { server_uuid } = await t.register();
    await t.db.query(put, [server_uuid, randomUUID()]);
    expect(await remove(server_uuid)).toMatchObject({ status: 409, body: { message } });
    await t.db.query(take);
    expect((await remove(server_uuid)).status).toBe(204);
  });

  test("a removed node can register again as a new node, without its earlier role", async () => {
    const { server_uuid } = await t.register();
    await act(server_uuid, "role", { role: "both" });
    await remove(server_uuid);
    await t.register({ server_uuid });
    expect(await show(server_uuid)).toMatchObject({ state: "pending", role: "tenant" });
  });
});

test("the list of a node's instances contains each instance on the node once, whether it is read whole or in pages", async () => {
  const { server_uuid } = await t.register();
  const other = await t.register();
  const insert = (host: string) => t.db.query(insertInstance({ state: "'running'", host_cn_uuid: "$1::uuid" }), [host]);
  const placed = await Promise.all([server_uuid, server_uuid, server_uuid].map(insert));
  await insert(other.server_uuid);
  const path = `/v1/system/cns/${server_uuid}/instances`;
  const whole = (await t.call("GET", path)).body;
  expect(whole.items.map(({ id }: { id: string }) => id)).toEqual(placed.map(({ rows }) => rows[0].id).sort());
  expect(whole.items[0]).toEqual({
    id: expect.any(String),
    name: expect.any(String),
    host_cn_uuid: server_uuid,
    lifecycle: { state: "running" },
    silo_name: expect.any(String),
    tenant_id: expect.any(String),
    tenant_name: expect.any(String),
    project_id: expect.any(String),
    project_name: expect.any(String),
    cpu: expect.any(Number),
    memory_bytes: expect.any(Number),
    disk_bytes: 0,
  });
  const first = (await t.call("GET", `${path}?limit=2`)).body;
  const second = (await t.call("GET", `${path}?limit=2&page_token=${first.next_page}`)).body;
  expect([...first.items, ...second.items]).toEqual(whole.items);
  expect(second.next_page).toBeUndefined();
  expect((await t.call("GET", `/v1/system/cns/${randomUUID()}/instances`)).status).toBe(404);
});
