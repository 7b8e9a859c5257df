// Tests migrations between two real agents of simulated machines. Each node loses power at each of its steps, or a step
// fails. In the end exactly one copy of the machine exists, and the control plane names the node of this copy
// (docs/reliability.md, "Migration of instances").
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Migration } from "../../src/contract/migration.ts";
import type { SimulatedVm } from "../../nodeagent/simulated-vms.ts";
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
const agents = new Map<string, RunningAgent>();

beforeAll(async () => {
  folder = await temporaryFolder("migration-agents");
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
  for (const [id, machine] of machines) await begin(id, machine);
  const known = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where last_seen is not null"))
      .rows.length;
  await expect.poll(known, PATIENCE).toBe(2);
});
afterEach(async () => {
  for (const agent of agents.values()) await agent.stop();
  agents.clear();
  for (const machine of machines.values()) await machine.trouble(null);
});
afterAll(async () => {
  await images.close();
  await t.close();
  await folder.remove();
});

function begin(id: string, machine = machines.get(id)!) {
  agents.set(id, machine.start());
  return Promise.resolve();
}

const show = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`));
const migrations = async (id: string): Promise<Migration[]> =>
  okOf(await t.call("GET", `/v1/instances/${id}/migrations`));
const operation = async (id: string) => okOf(await t.call("GET", `/v1/operations/${id}`));
const vmsOf = async (id: string) => await machines.get(id)!.vms();

/** Returns the nodes on which the guest of the machine runs and is not paused for a move. */
async function runsOn(id: string): Promise<string[]> {
  const runs = (vm: SimulatedVm | undefined) => vm?.state === "running" && !vm.move;
  const found = await Promise.all(
    [...machines.keys()].map(async (node) => runs((await vmsOf(node))[id]) ? [node] : []),
  );
  return found.flat();
}

async function instance(state: "running" | "stopped" = "running") {
  const { id, host_cn_uuid: source } = okOf(await makeInstance(g));
  if (state === "stopped") okOf(await g.call("POST", `/v1/instances/${id}/stop`));
  const target = [...machines.keys()].find((node) => node !== source)!;
  return { id: id as string, source: source as string, target };
}

const migrate = async (id: string, body: object = {}) =>
  okOf(await t.call("POST", `/v1/instances/${id}/migrate`, { body })).operation_id as string;

async function ended(operation_id: string, state: string): Promise<void> {
  await expect.poll(async () => (await operation(operation_id)).state, PATIENCE).toBe(state);
}

/** Expects that the node has the only copy, and that the node's reports do not change the instance. */
async function expectAlone(id: string, node: string, state: "running" | "stopped"): Promise<void> {
  const copies = async () =>
    (await Promise.all([...machines.keys()].map(async (each) => {
      const vm = (await vmsOf(each))[id];
      return vm === undefined ? [] : [{ node: each, state: vm.state, moves: Boolean(vm.move) }];
    }))).flat();
  await expect.poll(copies, PATIENCE).toEqual([{ node, state, moves: false }]);
  expect(await show(id)).toMatchObject({ host_cn_uuid: node, lifecycle: { state } });
}

describe.each(["running", "stopped"] as const)("a %s instance", (state) => {
  test("moves to the other node, and can then be started, stopped and moved back", async () => {
    const { id, source, target } = await instance(state);
    const operation_id = await migrate(id);
    await ended(operation_id, "succeeded");
    await expectAlone(id, target, state);
    expect(await migrations(id)).toMatchObject([{
      id: operation_id,
      state: "completed",
      source_server_uuid: source,
      target_server_uuid: target,
      live: state === "running",
      ended_at: expect.any(String),
    }]);
    okOf(await g.call("POST", `/v1/instances/${id}/${state === "running" ? "stop" : "start"}`));
    await migrate(id, { target_server_uuid: source });
    await expect.poll(async () => (await show(id)).host_cn_uuid, PATIENCE).toBe(source);
  });

  const STEPS = [
    ["target", "migrate_receive:image"],
    ["target", "migrate_receive:receive"],
    ["source", "migrate_send:send"],
    ["target", "migrate_activate:activate"],
    ["source", "migrate_clean:clean"],
  ] as const;

  test.each(STEPS)(
    "completes its move after the %s loses power at %s and returns",
    async (which, step) => {
      const { id, source, target } = await instance(state);
      const node = which === "target" ? target : source;
      await machines.get(node)!.trouble({ vanish_at: [step] });
      const operation_id = await migrate(id);
      await agents.get(node)!.ended;
      expect((await runsOn(id)).length).toBeLessThanOrEqual(1);
      await machines.get(node)!.trouble(null);
      await begin(node);
      await ended(operation_id, "succeeded");
      await expectAlone(id, target, state);
    },
  );

  test.each(["migrate_receive:image", "migrate_receive:receive", "migrate_send:send"])(
    "stays on its node if %s fails",
    async (step) => {
      const { id, source } = await instance(state);
      for (const machine of machines.values()) await machine.trouble({ fail_at: [step] });
      const operation_id = await migrate(id);
      await ended(operation_id, "unwound");
      await expectAlone(id, source, state);
      expect(await migrations(id)).toMatchObject([{ state: "failed", reason: expect.stringContaining("on request") }]);
    },
  );

  test("stays on its node if an operator abandons the migration during the transfer", async () => {
    const { id, source } = await instance(state);
    await machines.get(source)!.trouble({ slow_ms: 60_000 });
    const operation_id = await migrate(id);
    await expect.poll(async () => (await operation(operation_id)).progress.current_step, PATIENCE).toBe("send");
    const busy = await g.call("POST", `/v1/instances/${id}/${state === "running" ? "stop" : "start"}`);
    expect([busy.status, (busy.body as { message: string }).message]).toEqual([
      409,
      `instance ${id} has an active migration ${operation_id}`,
    ]);
    okOf(await t.call("POST", `/v1/operations/${operation_id}/abandon`));
    await machines.get(source)!.trouble(null);
    await ended(operation_id, "unwound");
    await expectAlone(id, source, state);
  });
});

test("a floating IP follows its instance", async () => {
  const { id, target } = await instance();
  const [nic] = okOf(await g.call("GET", `/v1/nics?instance=${id}`)).items;
  const ip = okOf(await g.call("POST", `/v1/floating-ips${g.selectors}`, { body: { name: id, family: "v4" } }));
  okOf(await g.call("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id: nic.id } }));
  await ended(await migrate(id), "succeeded");
  expect(okOf(await g.call("GET", `/v1/floating-ips/${ip.id}`))).toMatchObject({ hosted_cn: target });
  okOf(await g.call("POST", `/v1/floating-ips/${ip.id}/detach`));
});

test.each(["running", "stopped"] as const)("a %s instance moves with its data disks", async (state) => {
  const { id, source, target } = await instance(state);
  const make = async (name: string) =>
    okOf(await g.call("POST", `/v1/disks?instance=${id}`, { body: { name, size_bytes: 2 ** 20 } })).id as string;
  const [attached, detached] = [await make("attached"), await make("detached")];
  okOf(await g.call("POST", `/v1/disks/${detached}/detach`));
  await ended(await migrate(id), "succeeded");
  await expect.poll(async () => (await vmsOf(source))[id], PATIENCE).toBeUndefined();
  expect((await vmsOf(target))[id]!.disks).toMatchObject([
    { kind: "boot" },
    ...[{ id: attached, attached: true }, { id: detached, attached: false }].sort((a, b) => a.id < b.id ? -1 : 1),
  ]);
  // After the move, the target node can change the disks.
  okOf(await g.call("POST", `/v1/disks/${detached}/attach`));
  for (const disk of [attached, detached]) {
    okOf(await g.call("POST", `/v1/disks/${disk}/detach`));
    okOf(await g.call("DELETE", `/v1/disks/${disk}`));
  }
  expect((await vmsOf(target))[id]!.disks).toHaveLength(1);
});

test("a migration to the instance's own node or to a cordoned node is refused, and a tenant may not name the node", async () => {
  const { id, source, target } = await instance();
  const refused = async (body: object, as: "root" | "tenant" = "root") => {
    const call = as === "root" ? t.call : g.call;
    const answer = await call("POST", `/v1/instances/${id}/migrate`, { body });
    return [answer.status, (answer.body as { message: string }).message];
  };
  const { name } = await show(id);
  expect(await refused({ target_server_uuid: source })).toEqual([409, `${name} is already on node ${source}`]);
  expect(await refused({ target_server_uuid: target }, "tenant")).toEqual([
    403,
    "only operators may name the node; leave out target_server_uuid",
  ]);
  okOf(await t.call("PATCH", `/v1/cns/${target}/placement`, { body: { cordoned: true } }));
  const [status, message] = await refused({ target_server_uuid: target });
  expect([status, message]).toEqual([409, expect.stringMatching(/cannot take the instance: .*cordoned/)]);
  expect((await refused({}))[0]).toBe(503);
  okOf(await t.call("PATCH", `/v1/cns/${target}/placement`, { body: { cordoned: false } }));
});
