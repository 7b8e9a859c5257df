// Finds the addresses of many instances, with one request for NICs per project.
import type { Instance, Nic } from "../../../src/contract/instance.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { TenantIo } from "../open-io.ts";
import { FIRST_NIC, NIC } from "../nic/nic.ts";

const REQUESTS_AT_ONCE = 8;

/** Returns the addresses of each instance, by its id. The addresses of the primary NIC are first. */
export async function addressesOf(io: TenantIo, instances: readonly Instance[]): Promise<Map<string, string[]>> {
  const projects = new Map(instances.map(({ tenant_id, project_id }) => [project_id, tenant_id]));
  const nics = await inParallel(
    REQUESTS_AT_ONCE,
    [...projects],
    ([project, tenant]) => io.all<Nic>(NIC.path, { tenant, project }),
  );
  const found = new Map<string, string[]>();
  for (const nic of nics.flat().sort(primaryFirst)) {
    const addresses = [nic.primary_ipv4, nic.primary_ipv6, ...nic.floating_ips].filter((address) => address !== null);
    found.set(nic.instance_id, [...found.get(nic.instance_id) ?? [], ...addresses]);
  }
  return found;
}

function primaryFirst(a: Nic, b: Nic): number {
  return Number(b.name === FIRST_NIC) - Number(a.name === FIRST_NIC) ||
    Number(a.name > b.name) - Number(a.name < b.name);
}
