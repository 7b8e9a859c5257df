// Tests that the files that a guest reads at its first boot have the MTU of the VPC, from the node's network document.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { VmPlan } from "../../nodeagent/driver.ts";
import { JOB_STEPS, type JobContext } from "../../nodeagent/job-steps.ts";
import { simulatedNetwork } from "../../nodeagent/network/simulated.ts";
import { placesOf } from "../../nodeagent/qemu/folders.ts";
import { documentOf, machine } from "../networks/documents.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openStandInVms, type StandInVms } from "./stand-in-vms.ts";
import { jobOf } from "./worker.ts";

const web = machine("web", "n1", { net: 1, host: 5, vpc: "a" });
const document = {
  ...documentOf({ vni: 4_096, machines: [web], rules: [], edge: null, routes: [] }, "n1"),
  mtu: 1_500,
};
const nic = {
  id: web.nic_id,
  name: "net0",
  vpc_id: document.vpc_id,
  subnet_id: web.subnet_id,
  mac: web.mac,
  primary_ipv4: web.ipv4,
  primary_ipv6: web.ipv6,
};

let folder: TemporaryFolder;
let node: StandInVms;
let id: string;
beforeEach(async () => {
  folder = await temporaryFolder("vm");
  // The driver reports that it carries packets, so that jobs wait for the documents.
  node = await openStandInVms(folder.path, { ...simulatedNetwork(), carries_packets: true });
  id = await node.add({ uid: process.getuid!(), firmware: "bios" });
});
afterEach(async () => {
  await node.close();
  await folder.remove();
});

/** Creates the VM. */
async function create(nics: readonly (typeof nic)[]): Promise<void> {
  // The creation reads only these parts of a plan.
  const plan = { instance: { id, name: "web" }, nics, subnets: [], ssh_public_keys: [], user_data: null };
  await node.vms.create(plan as unknown as VmPlan);
}

async function networkConfig(): Promise<string> {
  return JSON.parse(await readFile(placesOf(node.folders, id).guest_files, "utf8"))["network-config"];
}

test("the network configuration of a new VM has the MTU of the VPC", async () => {
  await node.network.take(document);
  await create([nic]);
  expect(await networkConfig()).toContain("    mtu: 1500\n");
});

test("the network configuration of a VM with a new NIC has the MTU of the VPC, even if the document arrives late", async () => {
  await create([]);
  const { store } = node;
  const driver = { network: node.network, vms: { ...node.vms, boot: () => Promise.resolve() } };
  const instance = { id, cpu: 1, memory_bytes: 2 ** 30 };
  // The step reads only these parts of a context.
  const context = {
    agent: { driver, environment: { signal: new AbortController().signal } },
    job: jobOf("start", id),
    blueprint: () => Promise.resolve({ instance, nics: [nic], subnets: [] }),
  };
  const started = JOB_STEPS.start.steps["boot"]!(context as unknown as JobContext);
  await sleep(300);
  expect(store.get(id)?.nics).toEqual([]);
  await node.network.take(document);
  await started;
  expect(await networkConfig()).toContain("    mtu: 1500\n");
  expect(store.get(id)?.nics).toMatchObject([{ id: nic.id }]);
});
