// Finds the addresses of instances.
import type { Instance, Nic } from "../../../src/contract/instance.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { TenantIo } from "../open-io.ts";
import { FIRST_NIC, NIC } from "../nic/nic.ts";

const REQUESTS_AT_ONCE = 8;

/**
 * Returns addresses by the id of their instance. The addresses of the primary NIC are first. Lists the NICs once for
 * each project, so the result also has entries for other instances of these projects. An instance without a NIC has no
 * entry.
 */
export async function addressesOf(io: TenantIo, instances: readonly Instance[]): Promise<Map<string, string[]>> {
  const projects = new Map(instances.map(({ tenant_id, project_id }) => [project_id, tenant_id]));
  const nics = await inParallel(
    REQUESTS_AT_ONCE,
    [...projects],
    ([project, tenant]) => io.all<Nic>(NIC.path, { tenant, project }),
  );
  const byInstance = Map.groupBy(nics.flat(), (nic) => nic.instance_id);
  return new Map([...byInstance].map(([id, own]) => [id, addressesIn(own)]));
}

/** Returns the addresses of one instance. The addresses of the primary NIC are first. */
export async function addressesOfOne(io: TenantIo, instance: string): Promise<string[]> {
  return addressesIn(await io.all<Nic>(NIC.path, { instance }));
}

function addressesIn(nics: readonly Nic[]): string[] {
  return nics.toSorted(primaryFirst)
    .flatMap((nic) => [nic.primary_ipv4, nic.primary_ipv6, ...nic.floating_ips])
    .filter((address) => address !== null);
}

function primaryFirst(a: Nic, b: Nic): number {
  return Number(b.name === FIRST_NIC) - Number(a.name === FIRST_NIC) ||
    Number(a.name > b.name) - Number(a.name < b.name);
}
