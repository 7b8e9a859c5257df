// Tests drains by label. The agents are real, and their machines are simulated (docs/nodes.md, "Drain by label").
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { LabelDrainResult, LabelDrainStarted } from "../../src/contract/label-drain.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "./node-agent.ts";

/** A long time limit, for slow machines. */
const PATIENCE = { timeout: 90_000 };
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
/** Three nodes of rack a3 in the order of their hostnames, and one node of another rack. */
let rack: { readonly server_uuid: string; readonly hostname: string }[];
let outside: string;
const machines = new Map<string, Machine>();
const made: string[] = [];
const agents = new Map<string, RunningAgent>();

const setPlacement = async (node: string, body: object) =>
  okOf(await t.call("PATCH", `/v1/cns/${node}/placement`, { body }));
const drain = (body: object = {}) => t.call("POST", "/v1/cn-drains", { body: { label: "rack=a3", ...body } });
const operation = async (id: string) => okOf(await t.call("GET", `/v1/operations/${id}`));
const hostOf = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`)).host_cn_uuid as string;
const placement = async (node: string) => okOf(await t.call("GET", `/v1/cns/${node}/placement`));

beforeAll(async () => {
  folder = await temporaryFolder("label-drain");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  for (let count = 0; count < 4; count++) {
    const node = await t.approvedNode();
    machines.set(node.server_uuid, await simulatedMachine(t, node, folder.path));
    await setPlacement(node.server_uuid, { labels: { rack: count < 3 ? "a3" : "a4" } });
    outside = node.server_uuid;
  }
});
beforeEach(async (context) => {
  needs(context, "openssl");
  for (const [id, machine] of machines) agents.set(id, machine.start());
  const known = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where last_seen is not null"))
      .rows.length;
  await expect.poll(known, PATIENCE).toBe(machines.size);
  // Waits until the agents have registered the hostnames of their simulated machines.
  const nodes = async () => okOf(await t.call("GET", "/v1/system/cns?label=rack%3Da3")).items as typeof rack;
  const registered = async () => (await nodes()).filter(({ hostname }) => hostname.startsWith("sim-")).length;
  await expect.poll(registered, PATIENCE).toBe(3);
  rack = (await nodes()).map(({ server_uuid, hostname }) => ({ server_uuid, hostname }))
    .sort((a, b) => a.hostname < b.hostname ? -1 : 1);
});
afterEach(async () => {
  for (const [node, machine] of machines) {
    await setPlacement(node, { cordoned: false });
    await machine.trouble(null);
  }
  for (const id of made.splice(0)) {
    await g.call("POST", `/v1/instances/${id}/stop`);
    okOf(await g.call("DELETE", `/v1/instances/${id}`));
  }
  for (const agent of agents.values()) await agent.stop();
  agents.clear();
});
afterAll(async () => {
  await images.close();
  await t.close();
  await folder.remove();
});

/** Creates an instance on a node, while the other nodes are cordoned. */
async function instanceOn(node: string): Promise<string> {
  for (const each of machines.keys()) await setPlacement(each, { cordoned: each !== node });
  const { id } = okOf(await makeInstance(g));
  made.push(id);
  for (const each of machines.keys()) await setPlacement(each, { cordoned: false });
  return id;
}

async function ended(id: string, state = "succeeded"): Promise<LabelDrainResult> {
  await expect.poll(async () => (await operation(id)).state, PATIENCE).toBe(state);
  return (await operation(id)).steps.at(-1).output;
}

test("a drain by label drains the nodes of a rack one after another, to nodes outside the rack", async () => {
  const ids = [];
  for (const { server_uuid } of rack) ids.push(await instanceOn(server_uuid));
  const plan: LabelDrainStarted = okOf(await drain({ dry_run: true }));
  expect(plan.nodes.map(({ hostname }) => hostname)).toEqual(rack.map(({ hostname }) => hostname));
  for (const { preview } of plan.nodes) {
    expect(preview).toMatchObject({ instances_on_cn: 1, placeable: [{ target_cn_uuid: outside }], not_placeable: [] });
  }
  expect(plan).toMatchObject({ operation_id: null, skipped: [] });
  for (const { server_uuid } of rack) expect(await placement(server_uuid)).toMatchObject({ cordoned: false });

  const started: LabelDrainStarted = okOf(await drain());
  const result = await ended(started.operation_id!);
  expect(result).toEqual({
    drained: rack.map(({ server_uuid, hostname }, index) => ({
      server_uuid,
      hostname,
      operation_id: started.nodes[index]!.operation_id,
      moved: 1,
    })),
    not_emptied: [],
    not_begun: [],
  });
  for (const id of ids) {
    expect(await hostOf(id)).toBe(outside);
    expect(okOf(await t.call("GET", `/v1/instances/${id}/migrations`))).toHaveLength(1);
  }
  for (const { server_uuid } of rack) {
    expect(await placement(server_uuid)).toMatchObject({ cordoned: true, cordoned_reason: "drain" });
  }
  const times = (await Promise.all(started.nodes.map((node) => operation(node.operation_id!))))
    .map(({ time_created, time_done }) => [time_created, time_done] as [string, string]);
  for (const [index, [begun]] of times.entries()) {
    if (index > 0) expect(begun >= times[index - 1]![1]).toBe(true);
  }
});

test("a drain by label stops at the first node that cannot be emptied, and states the reason", async () => {
  const [first, second, third] = rack as [typeof rack[0], typeof rack[0], typeof rack[0]];
  await instanceOn(first.server_uuid);
  const stays = await instanceOn(second.server_uuid);
  await machines.get(second.server_uuid)!.trouble({ fail_at: ["migrate_send:send"] });
  const { operation_id } = okOf(await drain());
  expect(await ended(operation_id, "unwound")).toMatchObject({
    drained: [{ hostname: first.hostname, moved: 1 }],
    not_emptied: [{
      hostname: second.hostname,
      reason: "1 instance is still on the node",
      remaining: [{ instance_id: stays, reason: expect.stringContaining("on request"), remedy: expect.any(String) }],
    }],
    not_begun: [{ hostname: third.hostname }],
  });
  expect(await hostOf(stays)).toBe(second.server_uuid);
  expect(await placement(third.server_uuid)).toMatchObject({ cordoned: false });
});

test("an abandoned drain by label begins no more drains, but a drain that already runs continues", async () => {
  const [first, second] = rack as [typeof rack[0], typeof rack[0]];
  const moves = await instanceOn(first.server_uuid);
  await machines.get(first.server_uuid)!.trouble({ slow_ms: 5_000 });
  const { operation_id, nodes } = okOf(await drain());
  const migrating = async () => (await t.db.query("select from migration where state = 'running'")).rows.length;
  await expect.poll(migrating, PATIENCE).toBe(1);
  okOf(await t.call("POST", `/v1/operations/${operation_id}/abandon`));
  expect((await operation(operation_id)).state).toBe("unwound");
  await machines.get(first.server_uuid)!.trouble(null);
  await expect.poll(async () => (await operation(nodes[0].operation_id)).state, PATIENCE).toBe("succeeded");
  expect(await hostOf(moves)).not.toBe(first.server_uuid);
  expect((await t.call("GET", `/v1/operations/${nodes[1].operation_id}`)).status).toBe(404);
  expect(await placement(second.server_uuid)).toMatchObject({ cordoned: false });
});

test("a drain by label skips nodes that are not approved, and stops at a node that another operation drains", async () => {
  const [first, second, third] = rack as [typeof rack[0], typeof rack[0], typeof rack[0]];
  await instanceOn(first.server_uuid);
  await machines.get(first.server_uuid)!.trouble({ slow_ms: 20_000 });
  const other = okOf(await t.call("POST", `/v1/cns/${first.server_uuid}/drain`, { body: {} })).operation_id;
  okOf(await t.call("POST", `/v1/cns/${third.server_uuid}/disable`));
  try {
    const started: LabelDrainStarted = okOf(await drain());
    expect(started.skipped).toEqual([{ ...third, state: "disabled" }]);
    expect(await ended(started.operation_id!, "unwound")).toMatchObject({
      drained: [],
      not_emptied: [{ hostname: first.hostname, reason: `operation ${other} already drains or evacuates the node` }],
      not_begun: [{ hostname: second.hostname }],
    });
  } finally {
    okOf(await t.call("POST", `/v1/cns/${third.server_uuid}/enable`));
    await machines.get(first.server_uuid)!.trouble(null);
    await expect.poll(async () => (await operation(other)).state, PATIENCE).toBe("succeeded");
  }
});

test("a drain by a label that no approved node has is refused, and its dry run lists no node", async () => {
  const refused = await drain({ label: "rack=a9" });
  expect([refused.status, (refused.body as { message: string }).message]).toEqual([
    400,
    "label: no approved node has the label rack=a9",
  ]);
  expect(okOf(await drain({ label: "rack=a9", dry_run: true })).nodes).toEqual([]);
  for (const body of [{ label: "" }, { label: "Rack=a3" }, { max_unavailable: 0 }, { max_unavailable: 1.5 }]) {
    expect((await drain(body)).status).toBe(400);
  }
});

test("a repeated request gets the first answer and starts one operation", async () => {
  const headers = { "idempotency-key": "label-drain-once" };
  const body = { label: "rack=a3", max_unavailable: 3 };
  const first = okOf(await t.call("POST", "/v1/cn-drains", { body, headers }));
  expect(okOf(await t.call("POST", "/v1/cn-drains", { body, headers }))).toEqual(first);
  await ended(first.operation_id);
});
