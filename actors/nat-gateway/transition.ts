// A NAT gateway of a VPC. From the commit that creates it to the commit that deletes it, the gateway holds one address
// of a fixed pool (src/lib/net/public-pool.ts) or of an external subnet. While a node may still run the deleted
// gateway, no other object gets the address. Each of the two commits also starts an operation, which shows the change
// to tenants (docs/networking.md).
import type { AddressFamily } from "../../src/contract/enums.ts";
import { conflict } from "../../src/contract/fault.ts";
import type { NatGateway } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { publicPool } from "../../src/lib/net/public-pool.ts";
import { audit, go, guard, insert, lock, release, remove, withActor } from "../engine/effects.ts";
import type { Out, Part } from "../engine/types.ts";
import { type Addressed, allocateFrom, fromFirst } from "../record/address-source.ts";
import { type Create, record, type RecordState, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import type { VpcMember } from "../vpc/state.ts";
import { hostedNowhere, leaveHost, type Leaving, takeHost } from "./host.ts";

type Fields = VpcMember & Addressed & { readonly operation_id: string };

export type NatGatewayMessage =
  | Create<Fields>
  | Update
  | { readonly type: "delete"; readonly operation_id: string }
  /** The operation that created the gateway is rolled back. */
  | { readonly type: "withdraw"; readonly operation_id: string }
  /** The gateway leaves the node, which may still run it until the next host is chosen. */
  | { readonly type: "leave_host"; readonly server_uuid: string }
  /**
   * The node becomes the host. `left_at` is the time at which the gateway left its last node, as the sender read it.
   * The sender has checked that the last node no longer runs the gateway. If the record has another time by now, the
   * check is out of date, and the message is ignored.
   */
  | {
    readonly type: "take_host";
    readonly server_uuid: string;
    readonly nic_tag: string;
    readonly left_at: string | null;
  };

export type NatGatewayState = RecordState<
  VpcMember & {
    readonly family: AddressFamily;
    readonly public_address: string;
    /** The external subnet of the address; null for an address from a fixed pool. */
    readonly network_id: string | null;
    readonly external_nic_tag: string | null;
    /** The pool to which a delete returns the address; null for the fixed pool of the family. */
    readonly pool_id: string | null;
    readonly desired_generation: number;
    readonly updated_at: Date;
    /** The node that runs the gateway; null while the gateway has no node. */
    readonly host_cn_uuid: string | null;
  } & Leaving
>;

type OfOperation = { readonly operation_id: string };

/** The operations, each with the step that commits together with the record. */
const NAT_GATEWAY_CREATE = { saga: "nat-gateway-create", record: "create_record" } as const;
const NAT_GATEWAY_DELETE = { saga: "nat-gateway-delete", record: "delete_record" } as const;

export const natGateway = record<NatGatewayState, NatGatewayMessage, NatGateway>({
  kind: "nat-gateway",
  table: "nat_gateway",
  noun: "nat gateway",
  resource: "NatGateway",
  create,
  update: {
    action: "nat_gateway_update",
    row: (next, _m, { now }) => ({ ...next, updated_at: now }),
  },
  delete: {
    action: "nat_gateway_delete",
    note: noted,
    parts: (
      row,
      { operation_id },
      now,
    ) => [...releaseAddress(row, now), vpcChanged(row), begin(row, operation_id, NAT_GATEWAY_DELETE)],
  },
  others: {
    withdraw: { absent: "ignore", live: withdraw },
    leave_host: { absent: "ignore", live: leaveHost },
    take_host: { absent: "ignore", live: takeHost },
  },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    project: row.project_id,
    vpc_id: row.vpc_id,
    vpc: row.vpc_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    family: row.family,
    public_address: row.public_address,
    network_id: row.network_id,
    external_nic_tag: row.external_nic_tag,
    edge_cluster_id: null,
    desired_generation: row.desired_generation,
    host_cn_uuid: row.host_cn_uuid,
    counts: null,
    realized: null,
    created_at: toRfc3339(row.created_at),
    updated_at: toRfc3339(row.updated_at),
  }),
  constraints: {
    nat_gateway_name: conflict("a nat gateway named <name> already exists in this VPC"),
    nat_gateway_of_vpc: conflict("the VPC was deleted"),
  },
});

function create(_s: null, m: Create<Fields>, now: Date): Out<NatGatewayState> {
  const { id, tenant_id, project_id, vpc_id, name, description, labels = {}, token, operation_id } = m;
  return fromFirst<NatGatewayState>(m, (source) => {
    const { pool_id, family, network } = source;
    const next: NatGatewayState = {
      state: "live",
      id,
      tenant_id,
      project_id,
      vpc_id,
      name,
      description,
      labels,
      family,
      public_address: token,
      network_id: network?.id ?? null,
      external_nic_tag: network?.nic_tag ?? null,
      pool_id: network === null ? null : pool_id,
      desired_generation: 1,
      created_at: now,
      updated_at: now,
      ...hostedNowhere,
    };
    const parts: Part<NatGatewayState>[] = [
      lock(lockKey("vpc", vpc_id), true),
      ...allocateFrom(source, m),
      insert("public_address", { address: token, nat_gateway_id: id }),
      vpcChanged(next),
      begin(next, operation_id, NAT_GATEWAY_CREATE),
      audit("nat_gateway_create", `NatGateway::"${id}"`, noted(next, m)),
    ];
    return { next, parts };
  });
}

function withdraw(s: NatGatewayState, m: OfOperation, now: Date): Out<NatGatewayState> {
  const entry = audit("nat_gateway_delete", `NatGateway::"${s.id}"`, noted(s, m));
  return go<NatGatewayState>(null, ...releaseAddress(s, now), vpcChanged(s), entry);
}

/**
 * Releases the address at once if no node can still run the gateway. Otherwise reserves the address until the gateway's
 * last node has stopped the gateway (src/db/resting-addresses.ts). Without the reservation, this node could answer for
 * an address that belongs to another object. The create of a route to the gateway takes the VPC's lock shared, so the
 * guard under the exclusive lock sees every route.
 */
function releaseAddress(s: NatGatewayState, now: Date): Part<NatGatewayState>[] {
  const { id, vpc_id, family, public_address, pool_id } = s;
  const leaving_cn_uuid = s.host_cn_uuid ?? s.leaving_cn_uuid;
  const left_at = toRfc3339(s.left_at ?? now);
  return [
    lock(lockKey("vpc", vpc_id)),
    guard("nat_gateway_is_unused", { id }, `nat gateway ${id} is still referenced by routes`),
    guard("nat_gateway_has_no_forward", { id }, `nat gateway ${id} still has port forwards`),
    ...(leaving_cn_uuid === null
      ? [release(pool_id ?? publicPool(family), public_address)]
      : [insert("resting_address", { address: public_address, vpc_id, leaving_cn_uuid, left_at })]),
    remove("public_address", { address: public_address }),
  ];
}

function begin(s: NatGatewayState, id: string, { saga, record }: { readonly saga: string; readonly record: string }) {
  const output = { nat_gateway_id: s.id, public_address: s.public_address };
  return withActor({ kind: "saga", id }, {
    type: "start",
    id,
    saga,
    params: { ...output, vpc_id: s.vpc_id, name: s.name, family: s.family, network_id: s.network_id },
    references: [
      { scope: "nat_gateway", id: s.id },
      { scope: "vpc", id: s.vpc_id },
      { scope: "project", id: s.project_id },
      { scope: "tenant", id: s.tenant_id },
    ],
    done: { [record]: output },
  });
}

function noted(s: NatGatewayState, { operation_id }: OfOperation) {
  const { name, vpc_id, project_id, tenant_id, family, public_address, network_id } = s;
  return { name, vpc_id, project_id, tenant_id, family, public_address, network_id, operation_id };
}
