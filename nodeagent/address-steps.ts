// Defines the steps of the jobs that bind a floating IP to a NIC of this node, and release it.
import type { JobContext } from "./job-steps.ts";
import { bindingOf, releaseOf, text } from "./job-fields.ts";

/** Records the binding, and waits a short time until the node has applied the network document with the address. */
export async function bindAddress({ agent: { driver, environment }, job }: JobContext): Promise<void> {
  const binding = bindingOf(job);
  await driver.vms.bindAddress(binding);
  await driver.network.floatingIpApplied(binding.nic_id, binding.fip_addr, environment.signal);
}

/** Removes the binding, and waits until the node's router no longer has the address. */
export async function releaseAddress({ agent: { driver, environment }, job }: JobContext): Promise<void> {
  const release = releaseOf(job);
  await driver.vms.releaseAddress(release);
  await driver.network.floatingIpReleased(release, text(job, "fip_addr"), environment.signal);
}
