// Tests the fence of a node that boots: the node starts only the VMs whose instances the control plane still has on the
// node.
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { processEnvironment } from "../../cli/internal/environment.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { readSavedKey } from "../../nodeagent/credentials.ts";
import { enrol, type Enrolling } from "../../nodeagent/enrolment.ts";
import { type Asking, ownInstances } from "../../nodeagent/own-instances.ts";
import { holdForeignVms } from "../../nodeagent/qemu/start-fence.ts";
import type { Power, VmRecord } from "../../nodeagent/qemu/vm-record.ts";
import { openVmStore, type VmStore } from "../../nodeagent/qemu/vm-store.ts";
import { openNode, placeInstance } from "../compute/placed.ts";
import { ADDRESS, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant } from "../tenancy/tenant.ts";

const [BEFORE, NOW] = ["boot-1", "boot-2"];

let t: TestControlPlane;
let folder: TemporaryFolder;
let store: VmStore;
let log: string[];
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
beforeEach(async () => {
  folder = await temporaryFolder("start-fence");
  const folders = { machine_dir: join(folder.path, "machine"), run_dir: join(folder.path, "run") };
  store = await openVmStore(folders, () => {});
  log = [];
  return () => folder.remove();
});

async function vm(power: Power, { id = randomUUID(), ...fields }: Partial<VmRecord> = {}): Promise<string> {
  await mkdir(join(folder.path, "machine", "vm", id), { recursive: true });
  await store.put({
    id,
    uid: store.freeUid(),
    name: id,
    brand: "kvm",
    owner_uuid: id,
    cpu: 1,
    memory_bytes: 2 ** 30,
    firmware: "bios",
    disks: [],
    nics: [],
    internal_metadata: {},
    power,
    boot_id: BEFORE,
    end: null,
    last_modified: "",
    ...fields,
  });
  return id;
}

const hold = (own: () => Promise<ReadonlySet<string> | null>) =>
  holdForeignVms({ store, boot_id: NOW, ownInstances: own, log: (line) => log.push(line) });
const powerOf = (id: string) => store.get(id)?.power;

test("after a boot, a VM whose instance is on another node does not start; other VMs and migrating VMs keep their state", async () => {
  const [own, foreign, begun, off] = [await vm("on"), await vm("on"), await vm("starting"), await vm("off")];
  // The fence reads only whether a VM has a move.
  const move = { migration_id: randomUUID(), role: "departed" } as unknown as NonNullable<VmRecord["move"]>;
  const moving = await vm("on", { move });
  await hold(() => Promise.resolve(new Set([own])));
  expect([own, foreign, begun, off, moving].map(powerOf)).toEqual(["on", "off", "off", "off", "on"]);
  expect(log.toSorted()).toEqual(
    [foreign, begun].map((id) => `VM ${id} does not start: its instance is not on this node any more`).toSorted(),
  );
});

test("if only the agent restarts, it does not request the list of instances; if the server is too old to list the instances, every VM starts", async () => {
  const running = await vm("on", { boot_id: NOW });
  await hold(() => Promise.reject(new Error("asked")));
  const other = await vm("on");
  await hold(() => Promise.resolve(null));
  expect([running, other].map(powerOf)).toEqual(["on", "on"]);
});

/** Returns the environment of a node with this key. Its first `failures` requests fail. */
async function asking(key: string | null, { failures = 0, server_uuid = String(randomUUID()) } = {}): Promise<Asking> {
  const state_dir = join(folder.path, "state");
  await mkdir(state_dir, { recursive: true });
  const credentials = JSON.stringify({ server_uuid, api_key: key });
  if (key !== null) await writeFile(join(state_dir, "credentials.json"), credentials, { mode: 0o600 });
  let left = failures;
  const environment = {
    ...processEnvironment(new AbortController().signal),
    fetch: async (url: string, init: RequestInit) => {
      if (left-- > 0) throw new TypeError("connection refused");
      return await t.plane.fetch(new Request(url, init), { remoteAddress: ADDRESS });
    },
  };
  const link = { endpoint: "http://127.0.0.1:9", user_agent: "nodeagent/test" };
  const hardware = () => Promise.resolve({ server_uuid, hostname: "again", admin_ip: null, sysinfo: {} });
  const timers = { pending_retry_ms: 10, error_retry_ms: 10, approval_wait_s: 60 } as Enrolling["timers"];
  const adminIp = () => Promise.resolve(null);
  return {
    environment,
    link,
    state_dir,
    error_retry_ms: 10,
    enrol: () => enrol({ environment, link, state_dir, timers, adminIp, driver: { hardware } }),
    log: (line) => void log.push(line),
  };
}

test("the control plane names the instances of the calling node only", async () => {
  const [one, two] = [await openNode(t), await openNode(t)];
  const tenant = await openTenant(t);
  const id = await placeInstance(t, { on: one.id, of: tenant });
  await placeInstance(t, { on: two.id, of: tenant });
  expect(await ownInstances(await asking(one.key))).toEqual(new Set([id]));
  expect(log).toEqual([]);
});

test("the agent waits for the control plane, and logs the wait once", async () => {
  const { key } = await openNode(t);
  expect(await ownInstances(await asking(key, { failures: 3 }))).toEqual(new Set());
  expect(log).toEqual([expect.stringMatching(/^the VMs wait for the control plane, /)]);
});

test("a node whose saved key was removed starts no VM until it is approved again, and then only its own VMs", async () => {
  const { id: server_uuid } = await openNode(t);
  const own = await placeInstance(t, { on: server_uuid, of: await openTenant(t) });
  const foreign = await vm("on");
  await vm("on", { id: own });
  const node = await asking(null, { server_uuid });
  let held = false;
  const ended = hold(() => ownInstances(node)).then(() => held = true);
  const code = () => readFile(join(node.state_dir, "claim-code"), "utf8").catch(() => "");
  await expect.poll(code, { timeout: 10_000 }).not.toBe("");
  expect(held).toBe(false);
  okOf(await t.approve((await code()).trim()));
  await ended;
  expect([own, foreign].map(powerOf)).toEqual(["on", "off"]);
  expect(log[0]).toBe("the VMs wait for the approval of this node, because it has no saved key");
  expect(await readSavedKey(node.state_dir)).not.toBeNull();
});

test("a node whose enrolment ends without an approval starts no VM", async () => {
  const node = { ...await asking(null), enrol: () => Promise.reject(new Failure("not approved", EXIT.wait_timeout)) };
  await vm("on");
  await expect(hold(() => ownInstances(node))).rejects.toThrow("not approved");
});

test("a node whose key was deleted starts no VM", async () => {
  const { id, key } = await openNode(t);
  await t.call("POST", `/v1/cns/${id}/disable`);
  await t.call("DELETE", `/v1/cns/${id}`);
  expect(await ownInstances(await asking(key))).toEqual(new Set());
});

test("if the saved key cannot be read, no VM starts, and the agent ends with the reason", async () => {
  const id = await vm("on");
  const node = await asking(null);
  const path = join(node.state_dir, "credentials.json");
  const uuid = randomUUID();
  for (const text of ["", "null", `{"server_uuid":"${uuid}","api_key":"opsk`, `{"server_uuid":"${uuid}"}`]) {
    await writeFile(path, text, { mode: 0o600 });
    const ended = hold(() => ownInstances(node));
    await expect(ended).rejects.toThrow(`${path} is damaged; remove it and restart the agent to register again`);
    await expect(ended).rejects.toMatchObject({ exit_code: 4 });
  }
  await chmod(path, 0o644);
  await expect(hold(() => ownInstances(node))).rejects.toThrow("is accessible to other users");
  expect(powerOf(id)).toBe("on");
});
