// Instances are evacuated from dead nodes to other nodes. The agents are real, and their machines are simulated
// (docs/nodes.md, "Evacuate a dead node").
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { DrainResult } from "../../src/contract/drain.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "./node-agent.ts";

/** A long time limit, for slow machines. */
const PATIENCE = { timeout: 60_000 };
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;

beforeAll(async () => {
  folder = await temporaryFolder("evacuate-agents");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
});
afterAll(async () => {
  await images.close();
  const broken = await brokenInvariants(t.db);
  await t.close();
  await folder.remove();
  expect(broken).toEqual([]);
});

type Node = { readonly id: string; readonly machine: Machine; agent: RunningAgent };

async function openNode(): Promise<Node> {
  const node = await t.approvedNode();
  const machine = await simulatedMachine(t, node, folder.path);
  const agent = machine.start();
  const known = async () =>
    (await t.db.query(
      "select from cn_capacity c join cn_signal s using (server_uuid) where server_uuid = $1 " +
        "and last_seen is not null",
      [node.server_uuid],
    )).rows.length;
  await expect.poll(known, PATIENCE).toBe(1);
  return { id: node.server_uuid, machine, agent };
}

/** Ends the agent, and sets the node's last heartbeat to an hour ago. */
async function die({ id, agent }: Node): Promise<void> {
  await agent.stop();
  await t.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [id]);
}

const cordon = async (id: string, cordoned: boolean) =>
  okOf(await t.call("PATCH", `/v1/cns/${id}/placement`, { body: { cordoned } }));
const evacuate = (id: string, body: object) => t.call("POST", `/v1/cns/${id}/evacuate`, { body });
const show = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`));
const doctor = async () => (await t.call("GET", "/v1/system/doctor")).status;
const operation = async (id: string) => okOf(await t.call("GET", `/v1/operations/${id}`));

async function ended(id: string, state = "succeeded"): Promise<DrainResult> {
  await expect.poll(async () => (await operation(id)).state, PATIENCE).toBe(state);
  return (await operation(id)).steps.at(-1).output;
}

test("the instances of a dead node start on another node with their addresses, and the returned node deletes its copies", async () => {
  const dead = await openNode();
  const running = okOf(await makeInstance(g));
  const stopped = okOf(await makeInstance(g));
  okOf(await g.call("POST", `/v1/instances/${stopped.id}/stop`));
  const nicsOf = async (id: string) =>
    okOf(await g.call("GET", `/v1/nics?instance=${id}`)).items.map((
      { realized: _nodes, ...nic }: Record<string, unknown>,
    ) => nic);
  const nics = await nicsOf(running.id);
  const [disk] = okOf(await g.call("GET", `/v1/disks?instance=${running.id}`)).items;
  okOf(await g.call("POST", `/v1/snapshots?disk=${disk.id}`, { body: { name: "before" } }));
  const other = await openNode();

  const early = await evacuate(dead.id, { fenced: true, lose_local_disks: true });
  expect([early.status, early.body.message]).toEqual([409, expect.stringMatching(/^the node was seen at /)]);
  await die(dead);

  // A dry run lists the instances that would lose their disks, and changes nothing.
  const kept = okOf(await evacuate(dead.id, { dry_run: true }));
  expect(kept).toMatchObject({ instances_on_cn: 2, placeable: [], operation_id: null });
  expect(kept.not_placeable[0]).toMatchObject({
    reason: "its disks are only on this node",
    remedy: expect.stringContaining("lose_local_disks"),
  });
  const plan = okOf(await evacuate(dead.id, { dry_run: true, lose_local_disks: true }));
  expect(plan.placeable.map(({ target_cn_uuid }: { target_cn_uuid: string }) => target_cn_uuid)).toEqual([
    other.id,
    other.id,
  ]);
  expect(okOf(await t.call("GET", `/v1/cns/${dead.id}/placement`)).cordoned).toBe(false);
  const unfenced = await evacuate(dead.id, { lose_local_disks: true });
  expect([unfenced.status, unfenced.body.message]).toEqual([400, expect.stringMatching(/^fenced must be true/)]);

  // Without lose_local_disks, the instances keep their disks and stay on the dead node.
  const nothing = okOf(await evacuate(dead.id, { fenced: true }));
  expect(await ended(nothing.operation_id, "unwound")).toMatchObject({ moved: 0, remaining: [{}, {}] });
  expect((await show(running.id)).host_cn_uuid).toBe(dead.id);

  // While the operation waits for the other node, room is reserved on both nodes.
  await other.agent.stop();
  const started = okOf(await evacuate(dead.id, { fenced: true, lose_local_disks: true }));
  await expect.poll(async () => (await show(running.id)).host_cn_uuid, PATIENCE).toBe(other.id);
  expect(await doctor()).toBe(200);
  other.agent = other.machine.start();
  expect(await ended(started.operation_id)).toEqual({ moved: 2, remaining: [] });
  expect(okOf(await g.call("GET", `/v1/snapshots?instance=${running.id}`)).items).toEqual([]);
  expect(await doctor()).toBe(200);
  expect(await show(running.id)).toMatchObject({ host_cn_uuid: other.id, lifecycle: { state: "running" } });
  expect(await show(stopped.id)).toMatchObject({ host_cn_uuid: other.id, lifecycle: { state: "stopped" } });
  expect(await nicsOf(running.id)).toEqual(nics);
  const made = await other.machine.vms();
  expect(made[running.id]).toMatchObject({ state: "running" });
  expect(made[stopped.id]).toMatchObject({ state: "stopped" });

  // The dead node returns with its old copies.
  expect(Object.keys(await dead.machine.vms()).sort()).toEqual([running.id, stopped.id].sort());
  dead.agent = dead.machine.start();
  await expect.poll(async () => Object.keys(await dead.machine.vms()), PATIENCE).toEqual([]);
  expect(await show(running.id)).toMatchObject({ host_cn_uuid: other.id, lifecycle: { state: "running" } });
  await dead.agent.stop();
  await other.agent.stop();
});

test("an instance that the other node cannot create stays on the dead node, and the operation states the reason", async () => {
  const dead = await openNode();
  const { id } = okOf(await makeInstance(g));
  const other = await openNode();
  await other.machine.trouble({ fail_at: ["provision:boot"] });
  await die(dead);
  const started = okOf(await evacuate(dead.id, { fenced: true, lose_local_disks: true }));
  expect(await ended(started.operation_id, "unwound")).toMatchObject({
    moved: 0,
    remaining: [{ instance_id: id, reason: expect.stringContaining("on request") }],
  });
  expect(await show(id)).toMatchObject({ host_cn_uuid: dead.id, lifecycle: { state: "running" } });
  expect(await other.machine.vms()).toEqual({});
  // The dead node returns. It has the only copy of the instance, and this copy continues to run.
  await cordon(dead.id, false);
  dead.agent = dead.machine.start();
  expect(await doctor()).toBe(200);
  expect((await dead.machine.vms())[id]).toMatchObject({ state: "running" });
  await dead.agent.stop();
  await other.agent.stop();
});
