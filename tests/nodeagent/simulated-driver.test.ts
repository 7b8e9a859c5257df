// Tests that the simulated driver behaves as every driver must.
import { randomUUID } from "node:crypto";
import type { VmPlan } from "../../nodeagent/driver.ts";
import { processEnvironment } from "../../cli/internal/environment.ts";
import { simulatedDriver } from "../../nodeagent/simulated-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { driverContract } from "./driver-contract.ts";

driverContract("simulated", async () => {
  const folder = await temporaryFolder("simulated");
  const environment = processEnvironment(new AbortController().signal);
  const open = () =>
    simulatedDriver({ state_dir: folder.path, server_uuid: undefined, hostname: undefined, environment });
  let driver = await open();
  return {
    driver: () => driver,
    restart: async () => driver = await open(),
    plan: () => Promise.resolve(simplePlan()),
    remove: folder.remove,
  };
});

function simplePlan(): VmPlan {
  const plan = {
    instance: {
      id: randomUUID(),
      name: "web1",
      brand: "kvm",
      tenant_id: randomUUID(),
      cpu: 1,
      memory_bytes: 2 ** 30,
    },
    image: { sha256: "ab".repeat(32) },
    image_path: "unused",
    disks: [{ id: randomUUID(), name: "boot", kind: "boot", size_bytes: 2 ** 30 - 2 ** 22 }],
    nics: [{
      id: randomUUID(),
      name: "net0",
      mac: "02:00:00:00:00:01",
      primary_ipv4: "10.0.1.5",
      primary_ipv6: null,
      vpc_id: randomUUID(),
      subnet_id: randomUUID(),
    }],
    subnets: [],
    ssh_public_keys: [],
    user_data: null,
    managed_identity: null,
  };
  // Drivers read only these parts of a plan.
  return plan as unknown as VmPlan;
}
