// Finds the pools from which a floating IP or a NAT gateway can get its address: a fixed pool, one external subnet, or
// the external subnets of a network pool in order. External subnets and network pools that are reserved for other silos
// count as missing.
import type { Kysely } from "kysely";
import { findExternalSubnets } from "../../actors/external-subnet/reads.ts";
import { findNetworkPool } from "../../actors/network-pool/reads.ts";
import type { Addressed, AddressSource } from "../../actors/record/address-source.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import { ADDRESS_FAMILIES, type AddressFamily } from "../contract/enums.ts";
import type { ExternalSubnet } from "../contract/external-network.ts";
import { badRequest, type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import type { Database } from "../db/tables.ts";
import { parseProvisionRange } from "../lib/net/provision-range.ts";
import { externalPool, isShared, poolExhausted, publicPool } from "../lib/net/public-pool.ts";

type Db = Kysely<Database>;

export type Wanted =
  | { readonly by: "family"; readonly family: AddressFamily }
  /** With `family`, only addresses of this family are used. */
  | { readonly by: "network" | "pool"; readonly id: string; readonly family?: AddressFamily };

/**
 * The silo of the tenant that gets the address, and a function that returns whether the caller may see a tenant's
 * subnets.
 */
export type Asker = { readonly silo_id: string; readonly seesTenant: (tenant_id: string) => boolean };

export type Sources = Pick<Addressed, "sources" | "network_pool_id" | "refusal">;

/** The fields of a body that name a source. */
type Named = {
  readonly family?: AddressFamily | null | undefined;
  readonly network_id?: string | null | undefined;
  readonly pool_id?: string | null | undefined;
};

/** Returns the sources that the fields name. */
export function wantedOf({ family, network_id, pool_id }: Named): Wanted[] {
  const set: Wanted[] = [];
  if (family) set.push({ by: "family", family });
  if (network_id) set.push({ by: "network", id: network_id });
  if (pool_id) set.push({ by: "pool", id: pool_id });
  return set;
}

/**
 * Returns the sources that the fields of a NAT gateway name. With a network or a pool, `family` selects only the blocks
 * of this family. Without any field, the source is the public IPv4 pool.
 */
export function wantedOfGateway({ family, ...named }: Named): Wanted[] {
  const set = wantedOf(named);
  if (set.length === 0) return [{ by: "family", family: family ?? "v4" }];
  return family ? set.map((wanted) => ({ ...wanted, family })) : set;
}

export async function sourcesOf(db: Db, wanted: Wanted, caller: Asker): Promise<Sources> {
  if (wanted.by === "family") {
    const { family } = wanted;
    return {
      sources: [{ pool_id: publicPool(family), family, network: null }],
      network_pool_id: null,
      refusal: poolExhausted(`the public ${family} address pool`),
    };
  }
  return wanted.by === "network" ? await ofNetwork(db, wanted, caller) : await ofPool(db, wanted, caller);
}

type Of = { readonly id: string; readonly family?: AddressFamily };

async function ofNetwork(db: Db, { id, family }: Of, caller: Asker): Promise<Sources> {
  const [network] = await findExternalSubnets(db, [id]);
  if (network === undefined) {
    const subnet = await findSubnet(db, id);
    const isVisible = subnet !== undefined && caller.seesTenant(subnet.tenant_id);
    return { sources: [], network_pool_id: null, refusal: isVisible ? notExternal(id) : NOT_FOUND };
  }
  if (!isOffered(network, caller)) return { sources: [], network_pool_id: null, refusal: NOT_FOUND };
  const sources = sourcesIn(network, family);
  const refusal = sources.length === 0
    ? badRequest(`network ${id} has no ${family} block`)
    : poolExhausted(`network ${id}`, family);
  return { sources, network_pool_id: null, refusal };
}

async function ofPool(db: Db, { id, family }: Of, caller: Asker): Promise<Sources> {
  const pool = await findNetworkPool(db, id);
  if (pool === undefined || !isOffered(pool, caller)) {
    return { sources: [], network_pool_id: id, refusal: NOT_FOUND };
  }
  const networks = await findExternalSubnets(db, pool.networks);
  return {
    sources: networks.filter((network) => isOffered(network, caller)).flatMap((network) => sourcesIn(network, family)),
    network_pool_id: id,
    refusal: poolExhausted(`network pool ${id}`, family),
  };
}

function isOffered({ owner_silos }: { readonly owner_silos: readonly string[] }, { silo_id }: Asker): boolean {
  return owner_silos.length === 0 || owner_silos.includes(silo_id);
}

/** Returns the sources of an external subnet: IPv4 first, then IPv6; or only the source of the family `only`. */
function sourcesIn(network: ExternalSubnet, only?: AddressFamily): AddressSource[] {
  return ADDRESS_FAMILIES.filter((family) => family === (only ?? family)).flatMap((family) => {
    const name = `ip${family}` as const;
    const block = network[`${name}_block`];
    if (block === null) return [];
    const [start, end] = [network[`provision_start_${name}`], network[`provision_end_${name}`]];
    const fields = { block, start, end, gateway: network[`gateway_${name}`] };
    const parsed = parseProvisionRange(family, fields);
    if ("error" in parsed) throw new Error(`external subnet ${network.id} has an invalid range in the database`);
    const { offset, count } = parsed.range;
    const low = isShared(family, block) ? offset : 0;
    const high = Math.min(low + count - 1, Number.MAX_SAFE_INTEGER);
    const pool_id = externalPool(network.id, family, block);
    return [{ pool_id, family, network: { id: network.id, nic_tag: network.nic_tag, within: { low, high } } }];
  });
}

function notExternal(id: string): Fault {
  return fault("bad_request", `subnet ${id} is not an external subnet`, { error_code: "SubnetNotExternal" });
}
