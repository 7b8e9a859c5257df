// Tests floating IPs with a real node agent on a simulated machine. The machine binds each address to the NIC that the
// floating IP's record names (docs/networking.md, "Floating IPs").
import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { JobKind } from "../../src/contract/enums.ts";
import type { FloatingIp } from "../../src/contract/network.ts";
import type { Nic } from "../../src/contract/instance.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import { enqueue, type JobNode, showJob } from "../compute/jobs.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "../compute/node-agent.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { conflictWith, ended, makeFloatingIp } from "./public-addresses.ts";

/** A limit for a slow machine. */
const PATIENCE = { timeout: 60_000 };
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
let node: JobNode;
let machine: Machine;
let agent: RunningAgent;
/** The NICs of two instances on the node. */
let one: Nic;
let two: Nic;

beforeAll(async () => {
  folder = await temporaryFolder("floating-ip-agents");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(10_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  node = await t.approvedNode();
  machine = await simulatedMachine(t, node, folder.path);
  agent = machine.start();
  const reported = "select from cn_capacity c join cn_signal s using (server_uuid) where server_uuid = $1";
  await vi.waitFor(async () => expect((await t.db.query(reported, [node.server_uuid])).rows).toHaveLength(1), PATIENCE);
  [one, two] = [await nicOf(okOf(await makeInstance(g)).id), await nicOf(okOf(await makeInstance(g)).id)];
});
afterEach(() => machine.trouble(null));
afterAll(async () => {
  await agent?.stop();
  await images?.close();
  await t?.close();
  await folder?.remove();
});

const nicOf = async (id: string): Promise<Nic> => okOf(await g.call("GET", `/v1/nics?instance=${id}`)).items[0];
const path = ({ id }: FloatingIp, verb = "") => `/v1/floating-ips/${id}${verb}`;
const attach = (ip: FloatingIp, { id }: Nic) => g.call("POST", path(ip, "/attach"), { body: { nic_id: id } });
const show = async (ip: FloatingIp): Promise<FloatingIp> => okOf(await g.call("GET", path(ip)));
/** Returns the NIC to which the machine has bound the address. */
async function boundTo(id: string): Promise<{ readonly nic_id: string; readonly fip_addr: string } | undefined> {
  const saved = JSON.parse(await readFile(join(machine.state_dir, "simulated-machine.json"), "utf8"));
  return saved.addresses[id];
}

test("the machine binds, moves and releases the address", async () => {
  const ip = okOf(await makeFloatingIp(g));
  okOf(await attach(ip, one));
  expect(await boundTo(ip.id)).toMatchObject({ nic_id: one.id, fip_addr: ip.address });
  okOf(await attach(ip, two));
  expect(await boundTo(ip.id)).toMatchObject({ nic_id: two.id, fip_addr: ip.address });
  expect(await show(ip)).toMatchObject({ attached_to: two.id, hosted_cn: node.server_uuid });
  okOf(await g.call("POST", path(ip, "/detach")));
  expect(await boundTo(ip.id)).toBeUndefined();
  okOf(await g.call("DELETE", path(ip)));
});

test("a machine that loses power while it binds an address binds the address after its restart", async () => {
  const ip = okOf(await makeFloatingIp(g));
  await machine.trouble({ vanish_at: ["fip_claim:address"] });
  const answer = attach(ip, one);
  await agent.ended;
  expect(await boundTo(ip.id)).toBeUndefined();
  await machine.trouble(null);
  agent = machine.start();
  expect(okOf(await answer)).toMatchObject({ attached_to: one.id });
  expect(await boundTo(ip.id)).toMatchObject({ nic_id: one.id });
  okOf(await g.call("POST", path(ip, "/detach")));
  okOf(await g.call("DELETE", path(ip)));
});

test("a move is stuck if the machine can bind the address to neither NIC; a later retry completes the rollback", async () => {
  const ip = okOf(await makeFloatingIp(g));
  okOf(await attach(ip, one));
  await machine.trouble({ fail_at: ["fip_claim:address"] });
  const refused = await attach(ip, two);
  expect([refused.status, refused.body.error_code]).toEqual([502, "OperationFailed"]);
  const [{ id }] = okOf(await t.call("GET", `/v1/operations?resource_scope=floating_ip&resource_id=${ip.id}`));
  expect(await ended(t, id)).toMatchObject({
    state: "stuck",
    stuck_reason: "undo of step release: address: failed on request of trouble.json",
  });
  conflictWith(
    await attach(ip, two),
    `operation ${id} (attach) still runs on floating ip ${ip.id}; wait for it to end`,
  );
  await machine.trouble(null);
  okOf(await t.call("POST", `/v1/operations/${id}/abandon`));
  expect(await ended(t, id)).toMatchObject({ state: "unwound" });
  expect(await show(ip)).toMatchObject({ attached_to: one.id });
  expect(await boundTo(ip.id)).toMatchObject({ nic_id: one.id });
  okOf(await g.call("POST", path(ip, "/detach")));
  okOf(await g.call("DELETE", path(ip)));
});

test("an address stays bound if its release fails", async () => {
  const ip = okOf(await makeFloatingIp(g));
  okOf(await attach(ip, one));
  await machine.trouble({ fail_at: ["fip_release:address"] });
  expect((await g.call("POST", path(ip, "/detach"))).status).toBe(502);
  expect(await boundTo(ip.id)).toMatchObject({ nic_id: one.id });
  await machine.trouble(null);
  okOf(await g.call("POST", path(ip, "/detach")));
  okOf(await g.call("DELETE", path(ip)));
});

test("the machine releases the addresses of an instance that it deletes", async () => {
  const { id } = okOf(await makeInstance(g));
  const ip = okOf(await makeFloatingIp(g));
  okOf(await attach(ip, await nicOf(id)));
  expect(await boundTo(ip.id)).toBeDefined();
  okOf(await g.call("POST", `/v1/instances/${id}/stop`));
  okOf(await g.call("DELETE", `/v1/instances/${id}`));
  expect(await boundTo(ip.id)).toBeUndefined();
  expect(await show(ip)).toMatchObject({ attached_to: null, hosted_cn: null });
  okOf(await g.call("DELETE", path(ip)));
});

test("of two jobs for one address, the job with the later generation wins; a release affects only the NIC that it names", async () => {
  const floating_ip_id = randomUUID();
  const ask = async (kind: JobKind, order: { readonly nic: Nic; readonly generation: number }, ends = "completed") => {
    const payload = { floating_ip_id, fip_addr: "203.0.113.9", nic_id: order.nic.id, generation: order.generation };
    const id = await enqueue(t, node, { kind, payload });
    await expect.poll(async () => (await showJob(t, id)).status.status, PATIENCE).toBe(ends);
  };
  await ask("fip_claim", { nic: { ...one, id: randomUUID() }, generation: 1 }, "failed");
  expect(await boundTo(floating_ip_id)).toBeUndefined();
  await ask("fip_claim", { nic: one, generation: 3 });
  await ask("fip_claim", { nic: two, generation: 2 });
  expect(await boundTo(floating_ip_id)).toMatchObject({ nic_id: one.id, generation: 3 });
  await ask("fip_release", { nic: two, generation: 4 });
  await ask("fip_release", { nic: one, generation: 2 });
  expect(await boundTo(floating_ip_id)).toMatchObject({ nic_id: one.id, generation: 3 });
  await ask("fip_release", { nic: one, generation: 3 });
  expect(await boundTo(floating_ip_id)).toBeUndefined();
});
