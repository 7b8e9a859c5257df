// The addresses of many instances. NICs are listed by subnet, and there are fewer subnets than instances; those of every
// subnet of the project are asked for, since further NICs may be in any of them.
import type { Instance, Nic } from "../../../src/contract/instance.ts";
import type { Subnet, Vpc } from "../../../src/contract/network.ts";
import { inParallel } from "../../kit/in-parallel.ts";
import type { TenantIo } from "../open-io.ts";
import { NIC } from "../nic/nic.ts";
import { SUBNET } from "../subnet/subnet.ts";
import { VPC } from "../vpc/vpc.ts";

const REQUESTS_AT_ONCE = 8;
/** What the server calls the NIC that every instance has. */
const PRIMARY = "primary";

/** By instance: the addresses of its primary NIC first. */
export async function addressesOf(io: TenantIo, instances: readonly Instance[]): Promise<Map<string, string[]>> {
  const subnets = await subnetsOf(io, instances);
  const nics = await inParallel(REQUESTS_AT_ONCE, subnets, ({ id }) => io.all<Nic>(NIC.path, { subnet: id }));
  const found = new Map<string, string[]>();
  for (const nic of nics.flat().sort(primaryFirst)) {
    const addresses = [nic.primary_ipv4, nic.primary_ipv6].filter((address) => address !== null);
    found.set(nic.instance_id, [...found.get(nic.instance_id) ?? [], ...addresses]);
  }
  return found;
}

async function subnetsOf(io: TenantIo, instances: readonly Instance[]): Promise<Subnet[]> {
  const projects = new Map(instances.map(({ tenant_id, project_id }) => [project_id, tenant_id]));
  const vpcs = await inParallel(
    REQUESTS_AT_ONCE,
    [...projects],
    ([project, tenant]) => io.all<Vpc>(VPC.path, { tenant, project }),
  );
  const subnets = await inParallel(REQUESTS_AT_ONCE, vpcs.flat(), ({ id }) => io.all<Subnet>(SUBNET.path, { vpc: id }));
  return subnets.flat();
}

function primaryFirst(a: Nic, b: Nic): number {
  return Number(b.name === PRIMARY) - Number(a.name === PRIMARY) || Number(a.name > b.name) - Number(a.name < b.name);
}
