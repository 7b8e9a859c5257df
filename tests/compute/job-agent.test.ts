// A real agent of a simulated machine runs the jobs of API requests, with faults, restarts and lost responses
// (docs/instances.md, "Jobs").
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { imageBody, type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { NOT_FETCHED } from "../../nodeagent/image-cache.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { enqueue, type JobNode, showJob } from "./jobs.ts";
import { type Call, type Machine, type RunningAgent, simulatedMachine } from "./node-agent.ts";

/** A long time limit, for slow machines. */
const PATIENCE = { timeout: 60_000 };
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f operator@desk";

// The time limit of a test is longer than the limits of its calls of `expect.poll`. So if such a call fails, the test
// reports the call's error instead of its own timeout.
vi.setConfig({ testTimeout: 120_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
let node: JobNode;
let machine: Machine;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  folder = await temporaryFolder("job-agents");
});
afterAll(() => folder.remove());

// Each test has its own control plane with one node, so that this node gets every instance.
beforeEach(async () => {
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(300_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  node = await t.approvedNode();
  machine = await simulatedMachine(t, node, folder.path);
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
  await images.close();
  await t.close();
});

function start(onAnswer?: (call: Call) => Promise<void> | void): RunningAgent {
  const agent = machine.start(onAnswer);
  agents.push(agent);
  return agent;
}

/** Waits for the node's first capacity report, which placement requires. */
async function known(): Promise<void> {
  const reports = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where server_uuid = $1", [
      node.server_uuid,
    ])).rows.length;
  await expect.poll(reports, PATIENCE).toBe(1);
}

type JobView = Awaited<ReturnType<typeof showJob>>;
const jobs = async (query = ""): Promise<JobView[]> =>
  okOf(await t.call("GET", `/v1/system/jobs?cn=${node.server_uuid}${query}`)).items;
const show = async (id: string) => await g.call("GET", `/v1/instances/${id}`);
const instanceIds = async (): Promise<string[]> =>
  okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items.map(({ id }: { id: string }) => id);

/** Returns the provision job after its node claimed it. */
async function provisioning(): Promise<JobView> {
  let found: JobView | undefined;
  await expect.poll(async () => {
    found = (await jobs("&status=in_progress")).find(({ kind }) => kind.kind === "provision");
    return found !== undefined;
  }, PATIENCE).toBe(true);
  return found!;
}

describe("requests of the API", () => {
  test("an instance is provisioned as requested, and the node reports the instance with its address", async () => {
    start();
    await known();
    const ssh_key = okOf(await g.call("POST", "/v1/auth/ssh-keys", { body: { name: "k", public_key: KEY } })).id;
    const asked = { ssh_key_ids: [ssh_key], user_data: "#cloud-config\n", disk_bytes: 2 ** 30 };
    const made = okOf(await makeInstance(g, asked));
    expect(made).toMatchObject({ host_cn_uuid: node.server_uuid, lifecycle: { state: "running" } });
    const vm = (await machine.vms())[made.id]!;
    const [nic] = okOf(await g.call("GET", `/v1/nics?instance=${made.id}`)).items;
    const [disk] = okOf(await g.call("GET", `/v1/disks?instance=${made.id}`)).items;
    expect(vm).toMatchObject({
      state: "running",
      alias: made.name,
      owner_uuid: g.tenant_id,
      memory_bytes: 2 ** 30,
      nics: [{ id: nic.id, mac: nic.mac, addresses: [nic.primary_ipv4] }],
      disks: [{ id: disk.id, size_bytes: 2 ** 30, image_sha256: images.sha256 }],
      ssh_public_keys: [expect.stringContaining(KEY.split(" ")[1]!)],
      user_data: "#cloud-config\n",
      internal_metadata: { "cp:instance_id": made.id, "cp:identity_hmac": expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const reported = async () =>
      okOf(await t.call("GET", `/v1/system/cns/${node.server_uuid}`)).last_status?.vms?.[made.id];
    await expect.poll(reported, PATIENCE).toMatchObject({
      state: "running",
      nics: [{ addresses: [nic.primary_ipv4] }],
    });
    const [job] = await jobs();
    expect(job).toMatchObject({ status: { status: "completed" }, progress: { step: "boot" } });
    expect(await machine.journal()).toEqual([]);
  });

  test("a rebuild replaces the boot disk and does not start a stopped machine", async () => {
    start();
    await known();
    const { id } = okOf(await makeInstance(g));
    const machineNow = async () => (await machine.vms())[id]!;
    const rebuild = () => g.call("POST", `/v1/instances/${id}/rebuild`, { body: {} });
    const before = await machineNow();
    expect(okOf(await rebuild()).lifecycle.state).toBe("running");
    const { nics, user_data, ssh_public_keys, disks } = await machineNow();
    expect({ nics, user_data, ssh_public_keys, disks }).toMatchObject({
      nics: before.nics,
      user_data: before.user_data,
      ssh_public_keys: before.ssh_public_keys,
      disks: [{ id: before.disks[0]!.id, image_sha256: images.sha256 }],
    });
    okOf(await g.call("POST", `/v1/instances/${id}/stop`));
    await machine.trouble({ fail_at: ["rebuild:disk"] });
    expect((await rebuild()).body.message).toContain("rebuild failed: disk: failed on request of trouble.json");
    await machine.trouble(null);
    okOf(await g.call("POST", `/v1/instances/${id}/retry`));
    await machine.trouble({ fail_at: ["start:boot"] });
    expect((await rebuild()).body.message).toContain("rebuild failed: boot: failed on request of trouble.json");
    await machine.trouble(null);
    okOf(await g.call("POST", `/v1/instances/${id}/retry`));
    okOf(await g.call("POST", `/v1/instances/${id}/stop`));
    expect([okOf(await rebuild()).lifecycle.state, (await machineNow()).state]).toEqual(["stopped", "stopped"]);
  });

  test("at the start of an instance, its machine gets the NICs of the record", async () => {
    start();
    await known();
    const { id } = okOf(await makeInstance(g));
    const macs = async () => (await machine.vms())[id]!.nics.map(({ mac }) => mac);
    const [primary] = okOf(await g.call("GET", `/v1/nics?instance=${id}`)).items;
    okOf(await g.call("POST", `/v1/instances/${id}/stop`));
    const body = { name: "second", subnet_id: primary.subnet_id };
    const second = okOf(await g.call("POST", `/v1/nics?instance=${id}`, { body }));
    expect(await macs()).toEqual([primary.mac]);
    await machine.trouble({ fail_at: ["start:boot"] });
    expect((await g.call("POST", `/v1/instances/${id}/start`)).status).toBe(502);
    await machine.trouble(null);
    okOf(await g.call("POST", `/v1/instances/${id}/retry`));
    expect(await macs()).toEqual([primary.mac, second.mac]);
    okOf(await g.call("POST", `/v1/instances/${id}/stop`));
    expect((await g.call("DELETE", `/v1/nics/${second.id}`)).status).toBe(204);
    okOf(await g.call("POST", `/v1/instances/${id}/start`));
    expect(await macs()).toEqual([primary.mac]);
  });

  test("stop, start, restart, resize and delete change the machine", async () => {
    start();
    await known();
    const { id } = okOf(await makeInstance(g));
    const act = async (verb: string) =>
      okOf(await g.call("POST", `/v1/instances/${id}/${verb}`)).lifecycle.state as string;
    const state = async () => (await machine.vms())[id]?.state;
    expect([await act("stop"), await state()]).toEqual(["stopped", "stopped"]);
    const [disk] = okOf(await g.call("GET", `/v1/disks?instance=${id}`)).items;
    okOf(await g.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 2 ** 31 } }));
    await expect.poll(async () => (await machine.vms())[id]?.disks[0]?.size_bytes, PATIENCE).toBe(2 ** 31);
    expect([await act("start"), await state()]).toEqual(["running", "running"]);
    expect([await act("restart"), await state()]).toEqual(["running", "running"]);
    await act("stop");
    expect((await g.call("DELETE", `/v1/instances/${id}`)).status).toBe(204);
    expect(await machine.vms()).toEqual({});
    expect((await show(id)).status).toBe(404);
  });
});

describe("images", () => {
  test("an image is fetched once for several instances", async () => {
    start();
    await known();
    await Promise.all([makeInstance(g), makeInstance(g), makeInstance(g)].map(async (made) => okOf(await made)));
    okOf(await makeInstance(g));
    expect(images.asked).toHaveLength(1);
    expect(await readdir(join(machine.state_dir, "images"))).toEqual([`${images.sha256}.${g.tenant_id}`]);
  });

  test("an interrupted download resumes", async () => {
    images.cutNext(100_000);
    start();
    await known();
    okOf(await makeInstance(g));
    expect(images.asked[0]).toBeNull();
    expect(images.asked.at(-1)).toMatch(/^bytes=[1-9][0-9]*-$/);
  });

  test("an image with a wrong SHA-256 is rejected; the tenant sees a fixed text, and the operator sees the reason", async () => {
    start();
    await known();
    const path = `/v1/tenants/${g.tenant_id}/images`;
    const wrong = imageBody({ url: images.url, sha256: "ab".repeat(32), size_bytes: images.bytes.length });
    const image_id = okOf(await g.call("POST", path, { body: wrong })).id;
    const answer = await makeInstance(g, { image_id });
    expect(answer.status).toBe(502);
    expect(answer.body.message).toContain(NOT_FETCHED);
    expect(answer.body.message).not.toContain(images.sha256);
    const { id } = (await jobs()).find(({ status }) => status.status === "failed")!;
    expect((await showJob(t, id)).result).toEqual({
      detail: expect.stringContaining(`has the SHA-256 ${images.sha256}`),
    });
    expect(await machine.vms()).toEqual({});
    await expect.poll(instanceIds, PATIENCE).toEqual([]);
  });
});

describe("faults of the machine and the agent", () => {
  test("a failed step is reported with its reason, and the node undoes its part of the job", async () => {
    await machine.trouble({ fail_at: ["provision:boot"] });
    start();
    await known();
    const answer = await makeInstance(g);
    expect([answer.status, answer.body.message]).toEqual([
      502,
      expect.stringContaining("boot: failed on request of trouble.json"),
    ]);
    expect(await machine.vms()).toEqual({});
    await machine.trouble(null);
    okOf(await makeInstance(g));
  });

  test("an agent continues its job after a power loss", async () => {
    await machine.trouble({ vanish_at: ["provision:create"] });
    const first = start();
    await known();
    const made = makeInstance(g);
    expect(await first.ended).toBe(1);
    expect(first.said()).toContain("the machine lost power at provision:create");
    const job = await provisioning();
    expect((await machine.journal()).map((entry) => entry.job.id)).toEqual([job.id]);
    await machine.trouble(null);
    start();
    expect(okOf(await made).lifecycle.state).toBe("running");
    expect(await showJob(t, job.id)).toMatchObject({ status: { status: "completed" } });
    expect(await jobs()).toHaveLength(1);
    expect(Object.keys(await machine.vms())).toEqual(await instanceIds());
  });

  test("an agent continues its job after a restart", async () => {
    await machine.trouble({ slow_ms: 500 });
    const first = start();
    await known();
    const made = makeInstance(g);
    await provisioning();
    await first.stop();
    start();
    expect(okOf(await made).lifecycle.state).toBe("running");
  });
});

describe("a claimed job that the control plane cancels", () => {
  test("is stopped, undone and reported by the agent before the instance's record is removed", async () => {
    await machine.trouble({ slow_ms: 300_000 });
    start();
    await known();
    const made = makeInstance(g);
    const job = await provisioning();
    okOf(await t.call("POST", `/v1/operations/${job.operation_id}/abandon`));
    expect((await made).status).toBe(502);
    await expect.poll(instanceIds, PATIENCE).toEqual([]);
    // The record is removed last, so by now the agent has undone the job and has reported this.
    expect(await showJob(t, job.id)).toMatchObject({ status: { status: "cancelled" }, tombstone: false });
    expect(await machine.vms()).toEqual({});
    expect(await machine.journal()).toEqual([]);
  });

  test("keeps the instance's record and address while the node is away; when the node returns, it first undoes the job", async () => {
    await machine.trouble({ vanish_at: ["provision:boot"] });
    const first = start();
    await known();
    const made = makeInstance(g);
    await first.ended;
    const job = await provisioning();
    const [id] = await instanceIds();
    okOf(await t.call("POST", `/v1/operations/${job.operation_id}/abandon`));
    await expect.poll(async () => (await showJob(t, job.id)).tombstone, PATIENCE).toBe(true);
    await expect.poll(async () => okOf(await show(id!)).lifecycle.state, PATIENCE).toBe("failed");
    expect(okOf(await g.call("GET", `/v1/nics?instance=${id}`)).items).toHaveLength(1);
    const next = await enqueue(t, node);
    await machine.trouble(null);
    const order: string[] = [];
    start(({ path, answer }) => {
      if (answer.ok && /(?:bury|complete)$/.test(path)) order.push(path.split("/").slice(-2).join(" "));
    });
    expect((await made).status).toBe(502);
    await expect.poll(() => order, PATIENCE).toEqual([`${job.id} bury`, `${next} complete`]);
    expect(await machine.vms()).toEqual({});
    await expect.poll(async () => (await show(id!)).status, PATIENCE).toBe(404);
  });
});

describe("lost responses", () => {
  /** Drops the first matching response. */
  function losing(fits: (call: Call) => Promise<boolean> | boolean) {
    let lost = 0;
    return {
      lost: () => lost,
      onAnswer: async (call: Call) => {
        if (lost > 0 || !await fits(call)) return;
        lost += 1;
        throw new TypeError("the connection broke");
      },
    };
  }

  test("a job whose claim response was lost is claimed again and run once", async () => {
    const wire = losing(async ({ path, answer }) =>
      path === "/v1/agent/poll" && answer.ok && Boolean((await answer.json()).work?.job)
    );
    start(wire.onAnswer);
    await known();
    expect(okOf(await makeInstance(g)).lifecycle.state).toBe("running");
    expect(wire.lost()).toBe(1);
    expect(await jobs()).toHaveLength(1);
  });

  test("a result whose response was lost is reported again, and the agent treats the 409 as success", async () => {
    const wire = losing(({ path, answer }) => path.endsWith("/complete") && answer.ok);
    start(wire.onAnswer);
    await known();
    okOf(await makeInstance(g));
    await expect.poll(() => machine.journal(), PATIENCE).toEqual([]);
    expect(wire.lost()).toBe(1);
  });

  test("a job of an unknown kind fails, and the agent continues", async () => {
    start();
    const odd = await enqueue(t, node, { kind: "migrate" as "stop", payload: {} });
    const next = await enqueue(t, node);
    await expect.poll(async () => (await showJob(t, next)).status.status, PATIENCE).toBe("completed");
    expect((await showJob(t, odd)).status).toEqual({
      status: "failed",
      reason: "kind: this agent does not support this kind of job; upgrade it",
    });
  });
});
