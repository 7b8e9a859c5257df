// The compiled agent runs real VMs for a running server, and is killed (kill -9) at every step of every job. Afterwards
// the node has what the control plane says, and after a delete it has nothing.
import { randomUUID } from "node:crypto";
import { chmod, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { openPool } from "../../src/db/pool.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import { builtGuest } from "../guest/guest.ts";
import { buildExecutables, type Running, start } from "../processes/executables.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type AgentLink, openAgentLink } from "./agent-link.ts";
import { BOOT, MEMORY_BYTES, needsMachine, processes } from "./machine.ts";

let database: FreshDatabase | undefined;
let server: ServerProcess;
let folder: TemporaryFolder;
let images: ImageServer;
let link: AgentLink;
let g: InstanceFixture;
let image_id: string;
let agent: Running | undefined;

beforeEach(needsMachine);
beforeAll(async () => {
  let lacks = false;
  needsMachine({ skip: (condition?: unknown) => void (lacks ||= condition === true) } as never);
  if (lacks) return;
  await buildExecutables(["nodeagent"]);
  const guest = await builtGuest();
  folder = await temporaryFolder("vm");
  await chmod(folder.path, 0o711);
  database = await freshDatabase();
  server = await startServer({ env: { DATABASE_URL: database.url } });
  link = await openAgentLink(server.url);
  images = await serveImage(await readFile(guest.path));
  // Its image is not used.
  g = await openInstanceFixture({ call }, { ...images, sha256: "ab".repeat(32), size_bytes: guest.size_bytes });
  image_id = await newImage({ sha256: guest.sha256, content_bytes: guest.content_bytes });
  agent = startAgent();
  const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  okOf(await call("POST", "/v1/cn-approvals", { body: { code } }));
  await agent.says(/reports to/);
  const db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  // Placement needs the node's capacity.
  await vi.waitFor(async () => expect((await db.query("select from cn_capacity")).rows).toHaveLength(1), BOOT);
  await db.close();
});
afterAll(async () => {
  if (database === undefined) return;
  for (const { id } of await instances()) await call("DELETE", `/v1/instances/${id}?force=true`);
  await killAgent();
  await killMachines();
  await server.kill();
  await link.close();
  await images.close();
  await database.drop();
  await folder.remove();
});

async function call(method: string, path: string, { key, body }: CallOptions = {}): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key ?? ROOT_KEY}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
}

async function newImage(fields: object): Promise<string> {
  const { length } = images.bytes;
  const body = { name: randomUUID(), os: "linux", version: "1", size_bytes: length, source_url: images.url, ...fields };
  return okOf(await g.call("POST", `/v1/tenants/${g.tenant_id}/images`, { body })).id;
}

function startAgent(): Running {
  return start("nodeagent", [
    "run",
    "--driver=qemu",
    `--endpoint=${link.url}`,
    `--state-dir=${join(folder.path, "state")}`,
    `--machine-dir=${join(folder.path, "lib")}`,
    `--run-dir=${join(folder.path, "run")}`,
    "--server-uuid=3f2a9c1e-0000-4000-8000-00000000c0de",
    "--heartbeat-ms=200",
    "--status-check-ms=100",
    "--error-retry-ms=50",
    "--job-poll-ms=50",
  ], { env: { HOME: folder.path } });
}

async function killAgent(): Promise<void> {
  agent?.signal("SIGKILL");
  await agent?.ended;
  agent = undefined;
}

/** The steps of a creation, in order. */
const PROVISION_STEPS = ["image", "disks", "network", "create", "boot"];

/**
 * Kills the agent when a job reports the step, or a later step of a creation: an agent reports only the latest step, so
 * a short one may have no report. Then starts the next agent and returns the result of the work.
 */
async function killedAt<T>(step: string, work: () => Promise<T>): Promise<T> {
  const from = PROVISION_STEPS.indexOf(step);
  const steps = from < 0 || work as unknown !== create ? [step] : PROVISION_STEPS.slice(from);
  let killing: Promise<void> | undefined;
  const reached = new Promise<void>((resolve) =>
    link.onStep(steps, () => {
      killing = killAgent();
      resolve();
    })
  );
  const result = work();
  // Work that is refused never reaches the step. Work that is short may end while the agent is being killed.
  await Promise.race([
    reached,
    result.then(() => killing ?? Promise.reject(new Error(`the work ended before the step ${step}`))),
  ]);
  await killing;
  agent = startAgent();
  return await result;
}

const machines = async () =>
  (await processes()).filter((line) => line.includes(join(folder.path, "run")) && / -uuid /.test(line));
const instances = async (): Promise<{ id: string }[]> => okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items;
const create = (fields: object = {}) => makeInstance(g, { image_id, memory_bytes: MEMORY_BYTES, ...fields });
const act = async (id: string, verb: string) =>
  okOf(await g.call("POST", `/v1/instances/${id}/${verb}`)).lifecycle.state;
const destroy = async (id: string) => {
  await act(id, "stop");
  expect((await g.call("DELETE", `/v1/instances/${id}`)).status).toBe(204);
};

async function killMachines(): Promise<void> {
  for (const line of await machines()) process.kill(Number(line.split(" ", 1)[0]), "SIGKILL");
}

/** Compares the node's files and processes with the control plane's instances. */
async function expectAgreement(): Promise<void> {
  const wanted = await instances();
  expect((await readdir(join(folder.path, "lib/vm"))).sort()).toEqual(wanted.map(({ id }) => id).sort());
  const running = okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items
    .filter(({ lifecycle }: { lifecycle: { state: string } }) => lifecycle.state === "running")
    .map(({ id }: { id: string }) => id);
  const found = (await machines()).map((line) => / -uuid (\S+)/.exec(line)![1]);
  expect(found.sort()).toEqual(running.sort());
}

test.each(PROVISION_STEPS)(
  "an agent that is killed at provision:%s, or at the next step that it reports, finishes the instance after its restart",
  async (step) => {
    const made = okOf(await killedAt(step, create));
    expect(made.lifecycle.state).toBe("running");
    await expectAgreement();
    expect((await machines()).length).toBe(1);
    await destroy(made.id);
    await expectAgreement();
  },
);

test("an agent that is killed at a step of stop, start, restart, resize or delete finishes the job", async () => {
  const { id } = okOf(await create());
  expect(await killedAt("halt", () => act(id, "stop"))).toBe("stopped");
  await expectAgreement();
  expect(await killedAt("boot", () => act(id, "start"))).toBe("running");
  await expectAgreement();
  expect(await killedAt("halt", () => act(id, "restart"))).toBe("running");
  expect(await killedAt("boot", () => act(id, "restart"))).toBe("running");
  await expectAgreement();
  const [disk] = okOf(await g.call("GET", `/v1/disks?instance=${id}`)).items;
  const size_bytes = disk.size_bytes + 2 ** 20;
  await killedAt("resize", () => g.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes } }));
  const applied = async () => okOf(await g.call("GET", `/v1/disks/${disk.id}`)).applied_bytes;
  await expect.poll(applied, BOOT).toBe(size_bytes);
  await act(id, "stop");
  const deleted = await killedAt("destroy", () => g.call("DELETE", `/v1/instances/${id}`));
  expect(deleted.status).toBe(204);
  await expectAgreement();
  expect(await machines()).toEqual([]);
});

test("a crash of QEMU reaches the tenant as a failure with a sentence, and a retry starts it again", async () => {
  const { id } = okOf(await create());
  await killMachines();
  const lifecycle = async () => okOf(await g.call("GET", `/v1/instances/${id}`)).lifecycle;
  await expect.poll(lifecycle, BOOT).toEqual({
    state: "failed",
    reason: "the virtual machine's process crashed on its node (signal SIGKILL)",
  });
  expect(await act(id, "retry")).toBe("running");
  await expectAgreement();
  await destroy(id);
});

test("an image with a backing file is refused with the reason, and nothing is left", async () => {
  const hostile = await serveImage(backedImage());
  const made = await newImage({
    sha256: hostile.sha256,
    source_url: hostile.url,
    size_bytes: hostile.bytes.length,
    content_bytes: 2 ** 26,
  });
  const answer = await create({ image_id: made });
  expect(answer.status).toBe(502);
  expect(answer.body.message).toContain("the image cannot be used: it has a backing file");
  await expect.poll(instances, BOOT).toEqual([]);
  await expectAgreement();
  await hostile.close();
});

/** A qcow2 header of version 2 that names /etc/passwd as its backing file. */
function backedImage(): Uint8Array {
  const image = Buffer.alloc(4 * 65_536);
  const name = "/etc/passwd";
  image.write("QFI\xfb", 0, "latin1");
  image.writeUInt32BE(2, 4);
  image.writeBigUInt64BE(72n, 8); // Where the name begins.
  image.writeUInt32BE(name.length, 16);
  image.writeUInt32BE(16, 20); // Clusters of 64 KiB.
  image.writeBigUInt64BE(2n ** 20n, 24); // Size of the disk.
  image.writeUInt32BE(1, 36); // Entries of the first table, and where it begins.
  image.writeBigUInt64BE(65_536n, 40);
  image.writeBigUInt64BE(2n * 65_536n, 48); // The table of reference counts.
  image.writeUInt32BE(1, 56);
  image.write(name, 72);
  return image;
}
