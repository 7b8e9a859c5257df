// Tests that the files that a guest reads at its first boot have the MTU of the VPC, from the node's network document.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { expect, test } from "vitest";
import type { VmPlan } from "../../nodeagent/driver.ts";
import { placesOf } from "../../nodeagent/qemu/folders.ts";
import { documentOf, machine } from "../networks/documents.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openStandInVms } from "./stand-in-vms.ts";

test("the network configuration of a new VM has the MTU of the VPC", async () => {
  const folder = await temporaryFolder("vm");
  const node = await openStandInVms(folder.path);
  const web = machine("web", "n1", { net: 1, host: 5, vpc: "a" });
  const document = documentOf({ vni: 4_096, machines: [web], rules: [], edge: null, routes: [] }, "n1");
  await node.network.take({ ...document, mtu: 1_500 });
  const id = await node.add({ uid: process.getuid!(), firmware: "bios" });
  const nic = { id: web.nic_id, vpc_id: document.vpc_id, subnet_id: web.subnet_id, mac: web.mac };
  const plan = {
    instance: { id, name: "web" },
    nics: [{ ...nic, primary_ipv4: web.ipv4, primary_ipv6: web.ipv6 }],
    subnets: [],
    ssh_public_keys: [],
    user_data: null,
  };
  // The creation of a VM reads only these parts of a plan.
  await node.vms.create(plan as unknown as VmPlan);
  const files = JSON.parse(await readFile(placesOf(node.folders, id).guest_files, "utf8"));
  expect(files["network-config"]).toContain("    mtu: 1500\n");
  await node.close();
  await folder.remove();
});
