// Tests upgrades by label. The agents are real, and their machines are simulated (docs/nodes.md, "Upgrade by label").
import { randomBytes, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { LabelUpgradeResult, LabelUpgradeStarted } from "../../src/contract/label-upgrade.ts";
import { putPolicy, seen, stageImages } from "../setup/machine.ts";
import { serveNode } from "../../src/http/node-server.ts";
import { buildExecutables, run } from "../processes/executables.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "./node-agent.ts";

/** A long time limit, for slow machines. */
const PATIENCE = { timeout: 90_000 };
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** The image that the simulated machines run, and the image to which they are upgraded. */
const OLD = "20261001T000000Z";
const NEW = "20261121T000000Z";

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
/** Two nodes of rack a3 in the order of their hostnames, and one node of another rack. */
let rack: { readonly server_uuid: string; readonly hostname: string }[];
let outside: string;
const machines = new Map<string, Machine>();
const made: string[] = [];
const agents = new Map<string, RunningAgent>();

const setPlacement = async (node: string, body: object) =>
  okOf(await t.call("PATCH", `/v1/cns/${node}/placement`, { body }));
const upgrade = (body: object = {}) =>
  t.call("POST", "/v1/cn-upgrades", { body: { label: "rack=a3", platform_image: NEW, ...body } });
const operation = async (id: string) => okOf(await t.call("GET", `/v1/operations/${id}`));
const hostOf = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`)).host_cn_uuid as string;
const placement = async (node: string) => okOf(await t.call("GET", `/v1/cns/${node}/placement`));
const status = async (node: string) => okOf(await t.call("GET", `/v1/system/cns/${node}`)).last_status;
const assigned = async (node: string) =>
  (await t.db.query("select assigned_pi from boot_record where server_uuid = $1", [node])).rows[0]?.assigned_pi;

beforeAll(async () => {
  folder = await temporaryFolder("label-upgrade");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  okOf(await stageImages(t, OLD, NEW));
  okOf(await putPolicy(t));
  for (let count = 0; count < 3; count++) {
    const node = await t.approvedNode();
    machines.set(node.server_uuid, await simulatedMachine(t, node, folder.path));
    await setPlacement(node.server_uuid, { labels: { rack: count < 2 ? "a3" : "a4" } });
    const mac = `02:00:5e:00:53:0${count}`;
    okOf(await seen(t, mac));
    await t.db.query(
      "update boot_record set state = 'enrolled', server_uuid = $2, assigned_pi = $3 where mac = $1",
      [mac, node.server_uuid, OLD],
    );
    outside = node.server_uuid;
  }
});

beforeEach(async (context) => {
  needs(context, "openssl");
  for (const [id, machine] of machines) await turnOn(id, machine);
  const known = async () =>
    (await t.db.query("select from cn_signal where last_status ? 'boot_id' and last_seen is not null")).rows.length;
  await expect.poll(known, PATIENCE).toBe(machines.size);
  const nodes = async () => okOf(await t.call("GET", "/v1/system/cns?label=rack%3Da3")).items as typeof rack;
  const registered = async () => (await nodes()).filter(({ hostname }) => hostname.startsWith("sim-")).length;
  await expect.poll(registered, PATIENCE).toBe(2);
  rack = (await nodes()).map(({ server_uuid, hostname }) => ({ server_uuid, hostname }))
    .sort((a, b) => a.hostname < b.hostname ? -1 : 1);
});
afterEach(async () => {
  for (const [node, machine] of machines) {
    await machine.trouble(null);
    if (!agents.has(node)) await turnOn(node, machine);
    await setPlacement(node, { cordoned: false });
  }
  for (const id of made.splice(0)) {
    await g.call("POST", `/v1/instances/${id}/stop`);
    okOf(await g.call("DELETE", `/v1/instances/${id}`));
  }
  for (const [node, machine] of machines) {
    await agents.get(node)?.stop();
    agents.delete(node);
    await boot(machine, OLD);
    await t.db.query("update boot_record set assigned_pi = $1 where server_uuid = $2", [OLD, node]);
    await t.db.query("update cn_signal set last_status = null where server_uuid = $1", [node]);
  }
});
afterAll(async () => {
  await images.close();
  await t.close();
  await folder.remove();
});

function turnOn(node: string, machine: Machine): Promise<void> {
  agents.set(node, machine.start());
  return Promise.resolve();
}

/** Restarts a machine with this image, as its BMC and its booter do. The machine's agent must be off. */
async function boot({ state_dir }: Machine, platform_image: string): Promise<void> {
  const path = join(state_dir, "simulated-machine.json");
  const machine = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...machine, boot_id: randomUUID(), platform_image }), { mode: 0o600 });
}

/** Creates an instance on a node, while the other nodes are cordoned. */
async function instanceOn(node: string): Promise<string> {
  for (const each of machines.keys()) await setPlacement(each, { cordoned: each !== node });
  const { id } = okOf(await makeInstance(g));
  made.push(id);
  for (const each of machines.keys()) await setPlacement(each, { cordoned: false });
  return id;
}

async function ended(id: string, state = "succeeded"): Promise<LabelUpgradeResult> {
  await expect.poll(async () => (await operation(id)).state, PATIENCE).toBe(state);
  return (await operation(id)).steps.at(-1).output;
}

test("an upgrade by label empties, restarts and uncordons the nodes of a rack, one after another", async () => {
  const ids = [];
  for (const { server_uuid } of rack) ids.push(await instanceOn(server_uuid));
  const boots = await Promise.all(rack.map(async ({ server_uuid }) => (await status(server_uuid)).boot_id));
  const plan: LabelUpgradeStarted = okOf(await upgrade({ dry_run: true }));
  expect(plan).toMatchObject({ current: [], skipped: [], unfit: [], operation_id: null });
  expect(plan.nodes).toMatchObject(rack.map((node) => ({ ...node, platform_image: OLD, operation_id: null })));

  const started: LabelUpgradeStarted = okOf(await upgrade());
  const result = await ended(started.operation_id!);
  expect(result).toEqual({
    upgraded: rack.map((node, index) => ({ ...node, operation_id: started.nodes[index]!.operation_id, moved: 1 })),
    not_upgraded: [],
    not_begun: [],
  });
  for (const [index, { server_uuid }] of rack.entries()) {
    const { boot_id, platform_image } = await status(server_uuid);
    expect(platform_image).toBe(NEW);
    expect(boot_id).not.toBe(boots[index]);
    expect(await assigned(server_uuid)).toBe(NEW);
    expect(await placement(server_uuid)).toMatchObject({ cordoned: false, cordoned_reason: null });
  }
  // The first drain moved no instance to the second node, because that node was upgraded later.
  expect(await hostOf(ids[0]!)).toBe(outside);
  expect([outside, rack[0]!.server_uuid]).toContain(await hostOf(ids[1]!));
  expect((await status(outside)).platform_image).toBe(OLD);
  const times = (await Promise.all(started.nodes.map((node) => operation(node.operation_id!))))
    .map(({ time_created, time_done }) => [time_created, time_done] as [string, string]);
  expect(times[1]![0] >= times[0]![1]).toBe(true);

  // All nodes have the image, so the same request upgrades no node.
  expect(okOf(await upgrade())).toMatchObject({ nodes: [], current: rack, operation_id: null });
});

test("an upgrade by label stops at the first node that cannot restart; this node keeps its image and its cordon", async () => {
  const [first, second] = rack as [typeof rack[0], typeof rack[0]];
  await machines.get(first.server_uuid)!.trouble({ fail_at: ["reboot:reboot"] });
  const { operation_id } = okOf(await upgrade());
  expect(await ended(operation_id, "unwound")).toMatchObject({
    upgraded: [],
    not_upgraded: [{
      hostname: first.hostname,
      step: "reboot",
      reason: expect.stringContaining("on request"),
      remedy: expect.stringContaining("power-cycle"),
    }],
    not_begun: [{ hostname: second.hostname }],
  });
  expect(await assigned(first.server_uuid)).toBe(OLD);
  expect(await placement(first.server_uuid)).toMatchObject({ cordoned: true, cordoned_reason: "drain" });
  expect(await placement(second.server_uuid)).toMatchObject({ cordoned: false });
});

test("a node that loses power during its restart job is upgraded when it returns", async () => {
  const [first] = rack as [typeof rack[0]];
  const machine = machines.get(first.server_uuid)!;
  await machine.trouble({ vanish_at: ["reboot:reboot"] });
  const { operation_id } = okOf(await upgrade());
  await agents.get(first.server_uuid)!.ended;
  await machine.trouble(null);
  await boot(machine, NEW);
  await turnOn(first.server_uuid, machine);
  expect(await ended(operation_id)).toMatchObject({ upgraded: rack });
});

test("with reboot=operator the upgrade waits for each restart, and stops if a node returns with another image", async () => {
  const [first, second] = rack as [typeof rack[0], typeof rack[0]];
  await setPlacement(first.server_uuid, { cordoned: true, cordoned_reason: "a fan" });
  const { operation_id, nodes } = okOf(await upgrade({ reboot: "operator" }));
  const waits = (at: number) =>
    expect.poll(async () => (await operation(nodes[at].operation_id)).progress.current_step, PATIENCE).toBe("return");
  const powerCycle = async (node: string, image: string) => {
    const machine = machines.get(node)!;
    await agents.get(node)!.stop();
    await boot(machine, image);
    await turnOn(node, machine);
  };
  await waits(0);
  expect(await assigned(first.server_uuid)).toBe(NEW);
  await powerCycle(first.server_uuid, NEW);
  await expect.poll(async () => (await t.call("GET", `/v1/operations/${nodes[1].operation_id}`)).status, PATIENCE)
    .toBe(200);
  // An operator had cordoned this node before the upgrade, so it stays cordoned.
  expect(await placement(first.server_uuid)).toMatchObject({ cordoned: true, cordoned_reason: "a fan" });
  await waits(1);
  await powerCycle(second.server_uuid, OLD);
  expect(await ended(operation_id, "unwound")).toMatchObject({
    upgraded: [first],
    not_upgraded: [{ ...second, step: "return", reason: `the node restarted with platform image ${OLD}, not ${NEW}` }],
  });
  expect(await assigned(second.server_uuid)).toBe(OLD);
});

test("opsctl stops at a node that does not return in time, and names the node's last heartbeat", async () => {
  const [first, second] = rack as [typeof rack[0], typeof rack[0]];
  await buildExecutables(["opsctl"]);
  const server = await serveNode({ fetch: t.plane.fetch, hostname: "127.0.0.1", port: 0 });
  const opsctl = run("opsctl", ["cn", "upgrade", "--label", "rack=a3", "--platform", NEW, "--reboot", "operator"], {
    env: {
      HOME: folder.path,
      NO_COLOR: "1",
      OPSCTL_ENDPOINT: `http://127.0.0.1:${server.port}`,
      OPSCTL_API_KEY: ROOT_KEY,
    },
  });
  const waiting = async () =>
    (await t.db.query("select id from saga where saga = 'cn-upgrade' and step = 'return' and state = 'running'")).rows;
  await expect.poll(waiting, PATIENCE).toHaveLength(1);
  const upgrade_id = (await waiting())[0].id;
  await agents.get(first.server_uuid)!.stop();
  agents.delete(first.server_uuid);
  await t.db.query("update saga set wake_at = berth_now() + interval '1 minute' where id = $1", [upgrade_id]);
  const { code, out, err } = await opsctl;
  await server.close(0);
  expect([code, err]).toEqual([1, expect.stringContaining(`stopped at ${first.hostname}`)]);
  expect(out).toMatch(/the node did not report a restart in time; its last heartbeat was at 20/);
  expect(out).toContain(second.hostname);
  expect((await status(second.server_uuid)).platform_image).toBe(OLD);
  expect(await placement(second.server_uuid)).toMatchObject({ cordoned: false });
  expect(await placement(first.server_uuid)).toMatchObject({ cordoned: true });
});

test("an abandoned upgrade by label begins no more upgrades; an abandoned upgrade of a node assigns the old image again", async () => {
  const [first, second] = rack as [typeof rack[0], typeof rack[0]];
  const { operation_id, nodes } = okOf(await upgrade({ reboot: "operator" }));
  await expect.poll(async () => (await operation(nodes[0].operation_id)).progress.current_step, PATIENCE)
    .toBe("return");
  okOf(await t.call("POST", `/v1/operations/${operation_id}/abandon`));
  expect((await operation(operation_id)).state).toBe("unwound");
  okOf(await t.call("POST", `/v1/operations/${nodes[0].operation_id}/abandon`));
  await expect.poll(async () => (await operation(nodes[0].operation_id)).state, PATIENCE).toBe("unwound");
  expect(await assigned(first.server_uuid)).toBe(OLD);
  expect((await t.call("GET", `/v1/operations/${nodes[1].operation_id}`)).status).toBe(404);
  expect(await placement(second.server_uuid)).toMatchObject({ cordoned: false });
});

test("a request with a node that cannot be upgraded is refused, and a dry run states the reason", async () => {
  const [first] = rack as [typeof rack[0]];
  await t.db.query("update boot_record set state = 'enrolling' where server_uuid = $1", [first.server_uuid]);
  try {
    const refused = await upgrade();
    expect([refused.status, (refused.body as { message: string }).message]).toEqual([
      409,
      expect.stringContaining(`${first.hostname} cannot be upgraded: no enrolled boot record belongs to the node`),
    ]);
    expect(okOf(await upgrade({ dry_run: true })).unfit).toMatchObject([{ ...first }]);
  } finally {
    await t.db.query("update boot_record set state = 'enrolled' where server_uuid = $1", [first.server_uuid]);
  }
  const messages = async (body: object) => {
    const { status, body: { message } } = await upgrade(body) as { status: number; body: { message: string } };
    return [status, message];
  };
  expect(await messages({ platform_image: "20990101T000000Z" })).toEqual([
    400,
    "platform_image: 20990101T000000Z is not staged on any booter",
  ]);
  expect(await messages({ label: "rack=a9" })).toEqual([400, "label: no approved node has the label rack=a9"]);
  for (const body of [{ label: "" }, { reboot: "bmc" }, { max_unavailable: 0 }, { platform_image: ".." }]) {
    expect((await upgrade(body)).status).toBe(400);
  }
});

test("a repeated request gets the first answer and starts one operation", async () => {
  const headers = { "idempotency-key": "label-upgrade-once" };
  const body = { label: "rack=a3", platform_image: NEW, max_unavailable: 2 };
  const first = okOf(await t.call("POST", "/v1/cn-upgrades", { body, headers }));
  expect(okOf(await t.call("POST", "/v1/cn-upgrades", { body, headers }))).toEqual(first);
  await ended(first.operation_id);
  expect(okOf(await t.call("POST", "/v1/cn-upgrades", { body, headers }))).toEqual(first);
});
