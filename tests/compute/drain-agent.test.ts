// Tests drains between two real agents of simulated machines (docs/nodes.md, "Drain").
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { DrainResult } from "../../src/contract/drain.ts";
import { DRAIN_MIGRATIONS_MAX } from "../../src/contract/limits.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "./node-agent.ts";

/** A long time limit, for slow machines. */
const PATIENCE = { timeout: 60_000 };
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
const machines = new Map<string, Machine>();
const made: string[] = [];
const agents = new Map<string, RunningAgent>();

beforeAll(async () => {
  folder = await temporaryFolder("drain-agents");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  for (let count = 0; count < 2; count++) {
    const node = await t.approvedNode();
    machines.set(node.server_uuid, await simulatedMachine(t, node, folder.path));
  }
});
beforeEach(async (context) => {
  needs(context, "openssl");
  for (const [id, machine] of machines) agents.set(id, machine.start());
  const known = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where last_seen is not null"))
      .rows.length;
  await expect.poll(known, PATIENCE).toBe(2);
});
afterEach(async () => {
  for (const node of machines.keys()) await cordon(node, false);
  for (const machine of machines.values()) await machine.trouble(null);
  for (const id of made.splice(0)) {
    await g.call("POST", `/v1/instances/${id}/stop`);
    okOf(await g.call("DELETE", `/v1/instances/${id}`));
  }
  for (const agent of agents.values()) await agent.stop();
  agents.clear();
});
afterAll(async () => {
  await images.close();
  const broken = await brokenInvariants(t.db);
  await t.close();
  await folder.remove();
  expect(broken).toEqual([]);
});

const hostOf = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`)).host_cn_uuid as string;
const operation = async (id: string) => okOf(await t.call("GET", `/v1/operations/${id}`));
const drain = (node: string, body: object = {}) => t.call("POST", `/v1/cns/${node}/drain`, { body });
const cordon = async (node: string, cordoned: boolean) =>
  okOf(await t.call("PATCH", `/v1/cns/${node}/placement`, { body: { cordoned } }));
const other = (node: string) => [...machines.keys()].find((each) => each !== node)!;

async function ended(id: string, state = "succeeded"): Promise<DrainResult> {
  await expect.poll(async () => (await operation(id)).state, PATIENCE).toBe(state);
  return (await operation(id)).steps.at(-1).output;
}

/** Creates instances on one node, while the other node is cordoned. */
async function instancesOn(node: string, count: number): Promise<string[]> {
  await cordon(other(node), true);
  const ids: string[] = [];
  while (ids.length < count) ids.push(okOf(await makeInstance(g)).id);
  made.push(...ids);
  await cordon(other(node), false);
  return ids;
}

test("a drain cordons the node and moves its running and stopped instances, and a dry run changes nothing", async () => {
  const [source] = [...machines.keys()] as [string];
  const ids = await instancesOn(source, 6);
  okOf(await g.call("POST", `/v1/instances/${ids[0]}/stop`));
  const preview = okOf(await drain(source, { dry_run: true }));
  expect(preview).toMatchObject({ instances_on_cn: ids.length, not_placeable: [], operation_id: null });
  const placement = async () => okOf(await t.call("GET", `/v1/cns/${source}/placement`));
  expect(await placement()).toMatchObject({ cordoned: false });

  const { operation_id } = okOf(await drain(source));
  expect(await placement()).toMatchObject({ cordoned: true, cordoned_reason: "drain" });
  expect(await ended(operation_id)).toEqual({ moved: ids.length, remaining: [] });
  for (const id of ids) {
    expect(await hostOf(id)).toBe(other(source));
    expect(okOf(await t.call("GET", `/v1/instances/${id}/migrations`))).toHaveLength(1);
  }
  const { rows } = await t.db.query(
    `select max((select count(*) from migration b where b.created_at <= a.created_at and b.ended_at > a.created_at))::int
       as most from migration a`,
  );
  expect(rows).toEqual([{ most: expect.any(Number) }]);
  expect(rows[0].most).toBeLessThanOrEqual(DRAIN_MIGRATIONS_MAX);
});

test("a node that cannot be emptied keeps its instances, and the operation names these instances", async () => {
  const [source] = [...machines.keys()] as [string];
  const [id] = await instancesOn(source, 1) as [string];
  await cordon(other(source), true);
  const { operation_id, not_placeable } = okOf(await drain(source));
  const left = { instance_id: id, reason: expect.stringContaining("cn-not-cordoned"), remedy: expect.any(String) };
  expect(not_placeable).toMatchObject([left]);
  expect(await ended(operation_id, "unwound")).toMatchObject({ moved: 0, remaining: [left] });
  expect(await hostOf(id)).toBe(source);
});

test("an instance whose migration fails stays on the node, and the operation states the reason", async () => {
  const [source] = [...machines.keys()] as [string];
  const [id] = await instancesOn(source, 1) as [string];
  for (const machine of machines.values()) await machine.trouble({ fail_at: ["migrate_send:send"] });
  const { operation_id } = okOf(await drain(source));
  expect(await ended(operation_id, "unwound")).toMatchObject({
    moved: 0,
    remaining: [{ instance_id: id, reason: expect.stringContaining("on request") }],
  });
  expect(await hostOf(id)).toBe(source);
});

test("a drain waits for an instance that migrates to the node, and then moves the instance", async () => {
  const [source] = [...machines.keys()] as [string];
  const target = other(source);
  const [id] = await instancesOn(source, 1) as [string];
  await machines.get(source)!.trouble({ slow_ms: 1_000 });
  const body = { target_server_uuid: target };
  const moved = t.call("POST", `/v1/instances/${id}/migrate`, { body });
  const active = async () =>
    (await t.db.query("select from migration where target_cn = $1 and not berth_migration_ended(state)", [target]))
      .rows;
  await expect.poll(async () => (await active()).length, PATIENCE).toBe(1);
  const { operation_id } = okOf(await drain(target));
  okOf(await moved);
  expect(await ended(operation_id)).toEqual({ moved: 1, remaining: [] });
  expect(await hostOf(id)).toBe(source);
});

test("an instance that was deleted before its migration does not count as moved by the drain", async () => {
  const [source] = [...machines.keys()] as [string];
  const [id] = await instancesOn(source, 2) as [string, string];
  okOf(await g.call("POST", `/v1/instances/${id}/stop`));
  await machines.get(source)!.trouble({ slow_ms: 1_000 });
  const deleted = g.call("DELETE", `/v1/instances/${id}`);
  const operationKind = async () =>
    (await t.db.query("select operation_kind from instance where id = $1", [id])).rows[0]?.operation_kind;
  await expect.poll(operationKind).toBe("delete");
  const { operation_id } = okOf(await drain(source));
  okOf(await deleted);
  made.splice(made.indexOf(id), 1);
  expect(await ended(operation_id)).toEqual({ moved: 1, remaining: [] });
});

test("a node has only one drain at a time, and an abandoned drain begins no more migrations", async () => {
  const [source] = [...machines.keys()] as [string];
  const ids = await instancesOn(source, DRAIN_MIGRATIONS_MAX + 1);
  await machines.get(source)!.trouble({ slow_ms: 30_000 });
  const { operation_id } = okOf(await drain(source));
  const moving = async () => (await t.db.query("select from migration where state = 'running'")).rows.length;
  await expect.poll(moving, PATIENCE).toBe(DRAIN_MIGRATIONS_MAX);
  const second = await drain(source);
  expect([second.status, (second.body as { message: string }).message]).toEqual([
    409,
    `operation ${operation_id} already drains or evacuates the node`,
  ]);
  okOf(await t.call("POST", `/v1/operations/${operation_id}/abandon`));
  expect((await operation(operation_id)).state).toBe("unwound");
  await machines.get(source)!.trouble(null);
  await expect.poll(moving, PATIENCE).toBe(0);
  const hosts = await Promise.all(ids.map(hostOf));
  expect(hosts.filter((host) => host === source)).toHaveLength(1);
});
