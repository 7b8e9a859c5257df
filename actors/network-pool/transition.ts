// A network pool: external subnets in the order in which they are asked for an address. Document 4, 1.16 and 5.
import { badRequest, conflict, fault } from "../../src/contract/fault.ts";
import type { NetworkPool } from "../../src/contract/external-network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock, refuse, remove } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";

type Content = {
  readonly name: string;
  readonly description: string;
  readonly networks: readonly string[];
  readonly owner_silos: readonly string[];
};

export type NetworkPoolMessage =
  | ({ readonly type: "create"; readonly id: string } & Content)
  | ({ readonly type: "replace" } & Content)
  | { readonly type: "delete" };

export type NetworkPoolState = Content & {
  readonly state: "live";
  readonly id: string;
  readonly created_at: Date;
};

type Live = At<NetworkPoolState, "live">;

export const networkPoolTable: Table<NetworkPoolState, NetworkPoolMessage> = {
  create: { absent: create, live: "network pool exists already" },
  replace: { absent: "missing", live: replace },
  delete: { absent: "missing", live: destroy },
};

function create(_s: null, m: Of<NetworkPoolMessage, "create">, now: Date): Out<NetworkPoolState> {
  return hold({ state: "live", id: m.id, ...contentOf(m), created_at: now }, "network_pool_create");
}

function replace(s: Live, m: Of<NetworkPoolMessage, "replace">): Out<NetworkPoolState> {
  return hold({ ...s, ...contentOf(m) }, "network_pool_update");
}

function hold(next: NetworkPoolState, action: string): Out<NetworkPoolState> {
  const { id, name, networks, owner_silos } = next;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  const rows: Part<NetworkPoolState>[] = networks.map((network_id) =>
    insert("network_pool_network", { network_pool_id: id, network_id })
  );
  return go(
    next,
    ...networks.map((network_id) => lock(lockKey("external-subnet", network_id), true)),
    guard("silos_exist", { silos: owner_silos }, badRequest("owner_silos: <WHAT> is no silo")),
    guard("external_subnets_exist", { networks }, NOT_EXTERNAL),
    remove("network_pool_network", { network_pool_id: id }),
    ...rows,
    audit(action, resource(id), { name, networks, owner_silos }),
  );
}

/** Document 4, 0.2. */
const NOT_EXTERNAL = fault("bad_request", "networks: <WHAT> is no external subnet", {
  error_code: "SubnetNotExternal",
});

function destroy({ id, name }: Live): Out<NetworkPoolState> {
  return go<NetworkPoolState>(
    null,
    remove("network_pool_network", { network_pool_id: id }),
    audit("network_pool_delete", resource(id), { name }),
  );
}

function contentOf({ name, description, networks, owner_silos }: Content): Content {
  return { name, description, networks, owner_silos };
}

function resource(id: string): string {
  return `NetworkPool::"${id}"`;
}

export function networkPoolView(s: NetworkPoolState): NetworkPool {
  const { id, name, description, networks, owner_silos, created_at } = s;
  return {
    id,
    name,
    description,
    networks: [...networks],
    owner_silos: [...owner_silos],
    created_at: toRfc3339(created_at),
  };
}

export const networkPool: Behavior<NetworkPoolState, NetworkPoolMessage> = {
  kind: "network-pool",
  table: "network_pool",
  key: "id",
  step: (s, m, now) => runTable(networkPoolTable, s, m, now),
  deadline: () => null,
  view: networkPoolView,
  constraints: { network_pool_name: conflict("a network pool named <name> already exists") },
};
