// The addresses of many instances: the NICs of each project that they are of, in one list.
import type { Instance, Nic } from "../../../src/contract/instance.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { TenantIo } from "../open-io.ts";
import { NIC } from "../nic/nic.ts";

const REQUESTS_AT_ONCE = 8;
/** What the server calls the NIC that every instance has. */
const PRIMARY = "primary";

/** By instance: the addresses of its primary NIC first. */
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
  return Number(b.name === PRIMARY) - Number(a.name === PRIMARY) || Number(a.name > b.name) - Number(a.name < b.name);
}
