// Reads the fields of a job. Throws a Failure if a step needs a field that the job lacks.
import type { Job } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { AddressBinding, AddressRelease } from "./driver.ts";
import type { ReleasedFrom } from "./network/network-waits.ts";

export function instanceOf(job: Job): string {
  return text(job, "instance_id");
}

export function diskOf(job: Job): string {
  return text(job, "disk_id");
}

export function bindingOf(job: Job): AddressBinding {
  const { nic_id, external_nic_tag, vlan_id } = job.kind;
  return {
    floating_ip_id: text(job, "floating_ip_id"),
    fip_addr: text(job, "fip_addr"),
    nic_id: typeof nic_id === "string" ? nic_id : null,
    external_nic_tag: typeof external_nic_tag === "string" ? external_nic_tag : null,
    vlan_id: typeof vlan_id === "number" ? vlan_id : null,
    generation: wholeNumber(job, "generation"),
  };
}

/**
 * Returns the release of an address. `vpc_id` is null if a server of an earlier version does not name the NIC's VPC.
 */
export function releaseOf({ kind }: Job): AddressRelease & ReleasedFrom {
  const { floating_ip_id, nic_id, vpc_id, generation } = kind;
  if (typeof floating_ip_id !== "string") throw new Failure("the job has no floating_ip_id", EXIT.failure);
  return {
    floating_ip_id,
    nic_id: typeof nic_id === "string" ? nic_id : null,
    vpc_id: typeof vpc_id === "string" ? vpc_id : null,
    generation: typeof generation === "number" ? generation : null,
  };
}

export function text({ kind }: Job, field: string): string {
  const value = kind[field];
  if (typeof value !== "string") throw new Failure(`the job has no ${field}`, EXIT.failure);
  return value;
}

export function wholeNumber({ kind }: Job, field: string): number {
  const value = kind[field];
  if (!Number.isSafeInteger(value)) throw new Failure(`the job has no ${field}`, EXIT.failure);
  return value as number;
}
