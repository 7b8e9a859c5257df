// A network pool: external subnets in the order in which an allocation tries them (docs/networking.md).
import { badRequest, conflict, fault } from "../../src/contract/fault.ts";
import type { NetworkPool } from "../../src/contract/external-network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { type Named, renameFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock, refuse, remove } from "../engine/effects.ts";
import type { Out, Part } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState } from "../record/record.ts";

type Content = Named & { readonly networks: readonly string[]; readonly owner_silos: readonly string[] };

type Replace = { readonly type: "replace" } & Content;

export type NetworkPoolMessage = Create<{ readonly id: string } & Content> | Replace | Delete;

export type NetworkPoolState = RecordState<{ readonly id: string } & Content>;

export const networkPool = record<NetworkPoolState, NetworkPoolMessage, NetworkPool>({
  kind: "network-pool",
  table: "network_pool",
  noun: "network pool",
  resource: "NetworkPool",
  create: { action: "network_pool_create", note: ["name", "networks", "owner_silos"], parts: networksOf },
  delete: {
    action: "network_pool_delete",
    note: ["name"],
    parts: ({ id }) => [remove("network_pool_network", { network_pool_id: id })],
  },
  others: { replace: { absent: "missing", live: replace } },
  view: ({ id, name, description, networks, owner_silos, created_at }) => ({
    id,
    name,
    description,
    networks: [...networks],
    owner_silos: [...owner_silos],
    created_at: toRfc3339(created_at),
  }),
  constraints: { network_pool_name: conflict("a network pool named <name> already exists") },
});

function replace(s: NetworkPoolState, { type: _type, ...content }: Replace): Out<NetworkPoolState> {
  const next = { ...s, ...content };
  const { id, name, networks, owner_silos } = next;
  const wrong = renameFault(s.name, name);
  if (wrong !== null) return refuse(wrong);
  return go(
    next,
    ...networksOf(next),
    audit("network_pool_update", `NetworkPool::"${id}"`, { name, networks, owner_silos }),
  );
}

const NOT_EXTERNAL = fault("bad_request", "networks: <WHAT> is not an external subnet", {
  error_code: "SubnetNotExternal",
});

/** Checks the networks and the silos, and replaces the rows that link the pool to its networks. */
function networksOf({ id, networks, owner_silos }: NetworkPoolState): Part<NetworkPoolState>[] {
  return [
    ...networks.map((network_id) => lock(lockKey("external-subnet", network_id), true)),
    ...owner_silos.map((silo_id) => lock(lockKey("silo", silo_id), true)),
    guard("silos_exist", { silos: owner_silos }, badRequest("owner_silos: there is no silo <WHAT>")),
    guard("external_subnets_exist", { networks }, NOT_EXTERNAL),
    remove("network_pool_network", { network_pool_id: id }),
    ...networks.map((network_id) => insert("network_pool_network", { network_pool_id: id, network_id })),
  ];
}
