// The compiled agent runs real VMs for a running server, and is killed (kill -9) at the steps of its jobs. Afterwards
// the node has exactly the instances of the control plane, and after a delete it has nothing.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { serveImage } from "../compute/image-server.ts";
import { imageBody } from "../compute/instance-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { type AgentLink, openAgentLink } from "./agent-link.ts";
import { BOOT, lacksMachine, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
let link: AgentLink;

withMachine(async () => {
  site = await openSite({
    between: async (server_url, address) => (link = await openAgentLink(server_url, address)).url,
  });
  return async () => {
    await site.close();
    await link.close();
  };
}, "nft");

/** The steps of a creation, in order. */
const PROVISION_STEPS = ["image", "disks", "network", "create", "boot"];

/**
 * Begins `work`, kills the agent when a job reports the step, starts the next agent, and returns the result of `work`.
 * An agent does not always report a short step of a creation. Then the kill comes at a later step.
 */
async function killedAt<T>(step: string, work: () => Promise<T>): Promise<T> {
  const from = PROVISION_STEPS.indexOf(step);
  const steps = from < 0 || work as unknown !== site.make ? [step] : PROVISION_STEPS.slice(from);
  let killing: Promise<void> | undefined;
  const reached = new Promise<void>((resolve) =>
    link.onStep(steps, () => {
      killing = site.killAgent();
      resolve();
    })
  );
  const result = work();
  // If the work is refused, `result` ends the race with the error. If the work succeeds, the race still waits for the
  // step, because a resize is answered before its job begins.
  await Promise.race([reached, result.then(() => reached)]);
  await killing;
  site.startAgent();
  return await result;
}

const act = async (id: string, verb: string) =>
  okOf(await site.call("POST", `/v1/instances/${id}/${verb}`)).lifecycle.state;
const destroy = async (id: string) => {
  await act(id, "stop");
  expect((await site.call("DELETE", `/v1/instances/${id}`)).status).toBe(204);
};

/**
 * Waits until the node keeps nothing for VMs. The routers of a node end a moment after the last instance of their
 * network.
 */
const expectNothingLeft = () => expect.poll(() => site.left(), BOOT).toEqual([]);

/** Compares the node's files and processes with the control plane's instances. */
async function expectAgreement(): Promise<void> {
  const wanted = await site.instances();
  expect((await readdir(join(site.folderOf(0), "lib/vm"))).sort()).toEqual(wanted.map(({ id }) => id).sort());
  const running = wanted.filter(({ lifecycle }) => lifecycle.state === "running").map(({ id }) => id);
  const found = (await site.machines()).map((line) => / -uuid (\S+)/.exec(line)![1]);
  expect(found.sort()).toEqual(running.sort());
}

test.each(PROVISION_STEPS)(
  "an agent that is killed at provision:%s, or at the next step that it reports, finishes the instance after its restart",
  async (step) => {
    const made = okOf(await killedAt(step, site.make));
    expect(made.lifecycle.state).toBe("running");
    await expectAgreement();
    await destroy(made.id);
    await expectNothingLeft();
  },
);

describe("an agent that is killed", () => {
  let id: string;
  beforeAll(async () => {
    if (lacksMachine("nft") === null) id = okOf(await site.make()).id;
  });

  test.each([
    ["halt", "stop", "stopped"],
    ["boot", "start", "running"],
    ["halt", "restart", "running"],
    ["boot", "restart", "running"],
    ["reset", "reset", "running"],
  ])("at the step %s of a %s finishes the job after its restart", async (step, verb, state) => {
    expect(await killedAt(step, () => act(id, verb))).toBe(state);
    await expectAgreement();
  });

  test.each(["running", "stopped"])(
    "at the resize of a disk of a %s instance finishes the resize after its restart",
    async (state) => {
      if (state === "stopped") await act(id, "stop");
      const [disk] = okOf(await site.call("GET", `/v1/disks?instance=${id}`)).items;
      const size_bytes = disk.size_bytes + 2 ** 20;
      await killedAt("resize", () => site.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes } }));
      const applied = async () => okOf(await site.call("GET", `/v1/disks/${disk.id}`)).applied_bytes;
      await expect.poll(applied, BOOT).toBe(size_bytes);
      await expectAgreement();
    },
  );

  test("at the deletion of a stopped instance leaves nothing after its restart", async () => {
    const deleted = await killedAt("destroy", () => site.call("DELETE", `/v1/instances/${id}`));
    expect(deleted.status).toBe(204);
    await expectNothingLeft();
  });

  test("leaves nothing after its restart if an operator deletes the instance by force before the restart", async () => {
    const running = okOf(await site.make()).id;
    await site.killAgent();
    const deleted = await site.operator("DELETE", `/v1/instances/${running}?force=true`);
    expect(deleted.status).toBe(204);
    expect(await site.machines()).toHaveLength(1);
    site.startAgent();
    await expectNothingLeft();
  });
});

test("after a crash of QEMU the instance is failed with a reason for the tenant, and a retry starts it", async () => {
  const { id } = okOf(await site.make());
  for (const line of await site.machines()) process.kill(Number(line.split(" ", 1)[0]), "SIGKILL");
  const lifecycle = async () => okOf(await site.call("GET", `/v1/instances/${id}`)).lifecycle;
  await expect.poll(lifecycle, BOOT).toEqual({
    state: "failed",
    reason: "the virtual machine's process crashed on its node (signal SIGKILL)",
  });
  expect(await act(id, "retry")).toBe("running");
  await expectAgreement();
  await destroy(id);
  await expectNothingLeft();
});

test("an image with a backing file is refused with the reason, and nothing is left", async () => {
  const hostile = await serveImage(backedImage(), site.address);
  const body = imageBody({ ...hostile, size_bytes: hostile.bytes.length, content_bytes: 2 ** 26 });
  const image_id = okOf(await site.call("POST", `/v1/tenants/${site.tenant_id}/images`, { body })).id;
  const answer = await site.make({ image_id });
  expect(answer.status).toBe(502);
  expect(answer.body.message).toContain("the image cannot be used: it has a backing file");
  await expect.poll(site.instances, BOOT).toEqual([]);
  await expectNothingLeft();
  await hostile.close();
});

/** A qcow2 header of version 2 that names /etc/passwd as its backing file. */
function backedImage(): Uint8Array {
  const image = Buffer.alloc(4 * 65_536);
  const name = "/etc/passwd";
  image.write("QFI\xfb", 0, "latin1");
  image.writeUInt32BE(2, 4);
  image.writeBigUInt64BE(72n, 8); // The position of the name.
  image.writeUInt32BE(name.length, 16);
  image.writeUInt32BE(16, 20); // The size of a cluster: 64 KiB.
  image.writeBigUInt64BE(2n ** 20n, 24); // The size of the disk.
  image.writeUInt32BE(1, 36); // The number of entries in the L1 table. The next field is the position of this table.
  image.writeBigUInt64BE(65_536n, 40);
  image.writeBigUInt64BE(2n * 65_536n, 48); // The position and size of the table of reference counts.
  image.writeUInt32BE(1, 56);
  image.write(name, 72);
  return image;
}
