// A NAT gateway of a VPC. It holds one address of the fixed pool of its family from the unit that makes it to the one
// that deletes it; the operation that tells of either begins in the same unit. Document 3, Networking rules.
import type { AddressFamily } from "../../src/contract/enums.ts";
import { conflict } from "../../src/contract/fault.ts";
import type { NatGateway } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { poolExhausted, publicPool } from "../../src/lib/net/public-pool.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { allocate, audit, go, guard, insert, lock, refuse, release, remove, withActor } from "../engine/effects.ts";
import { planted } from "../engine/planted.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";
import type { VpcMember } from "../vpc/state.ts";

export type NatGatewayMessage =
  | ({
    readonly type: "create";
    readonly family: AddressFamily;
    /** Stands for the address that the commit takes. */
    readonly token: string;
    readonly operation_id: string;
  } & VpcMember)
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete"; readonly operation_id: string }
  /** The operation that made it is taken back. */
  | { readonly type: "withdraw"; readonly operation_id: string };

export type NatGatewayState = VpcMember & {
  readonly state: "live";
  readonly family: AddressFamily;
  readonly public_address: string;
  readonly desired_generation: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

type Live = At<NatGatewayState, "live">;
type Msg<T extends NatGatewayMessage["type"]> = Of<NatGatewayMessage, T>;

/** The operations: the step that commits together with the record. Document 4, 3.2. */
const NAT_GATEWAY_CREATE = { saga: "nat-gateway-create", record: "create_record" } as const;
const NAT_GATEWAY_DELETE = { saga: "nat-gateway-delete", record: "delete_record" } as const;

export const natGatewayTable: Table<NatGatewayState, NatGatewayMessage> = {
  create: { absent: create, live: "nat gateway exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: destroy },
  withdraw: { absent: "ignore", live: withdraw },
};

function create(_s: null, m: Msg<"create">, now: Date): Out<NatGatewayState> {
  const { id, tenant_id, project_id, vpc_id, name, description, family, token } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  const next: NatGatewayState = {
    state: "live",
    id,
    tenant_id,
    project_id,
    vpc_id,
    name,
    description,
    family,
    public_address: token,
    desired_generation: 1,
    created_at: now,
    updated_at: now,
  };
  return go(
    next,
    lock(lockKey("vpc", vpc_id), true),
    allocate(publicPool(family), token, poolExhausted(`the public ${family} address pool`)),
    insert("public_address", { address: token, nat_gateway_id: id }),
    begin(next, m.operation_id, NAT_GATEWAY_CREATE),
    note("nat_gateway_create", next, m.operation_id),
  );
}

function update(s: Live, m: Msg<"update">, now: Date): Out<NatGatewayState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    { ...next, updated_at: now },
    audit("nat_gateway_update", resource(s.id), { name: next.name }),
  );
}

function destroy(s: Live, m: Msg<"delete">): Out<NatGatewayState> {
  return go<NatGatewayState>(
    null,
    ...unhold(s),
    begin(s, m.operation_id, NAT_GATEWAY_DELETE),
    note("nat_gateway_delete", s, m.operation_id),
  );
}

function withdraw(s: Live, m: Msg<"withdraw">): Out<NatGatewayState> {
  return go<NatGatewayState>(null, ...unhold(s), note("nat_gateway_delete", s, m.operation_id));
}

/** Whoever points a route at it holds the same lock shared. */
function unhold({ id, vpc_id, family, public_address }: Live): Part<NatGatewayState>[] {
  return [
    lock(lockKey("vpc", vpc_id)),
    guard("nat_gateway_is_unused", { id }, `nat gateway ${id} is still referenced by routes`),
    ...(planted("address_kept") ? [] : [release(publicPool(family), public_address)]),
    remove("public_address", { address: public_address }),
  ];
}

function begin(s: NatGatewayState, id: string, { saga, record }: { readonly saga: string; readonly record: string }) {
  const output = { nat_gateway_id: s.id, public_address: s.public_address };
  return withActor({ kind: "saga", id }, {
    type: "start",
    id,
    saga,
    params: { ...output, vpc_id: s.vpc_id, name: s.name, family: s.family },
    references: [
      { scope: "nat_gateway", id: s.id },
      { scope: "vpc", id: s.vpc_id },
      { scope: "project", id: s.project_id },
      { scope: "tenant", id: s.tenant_id },
    ],
    done: { [record]: output },
  });
}

function note(action: string, s: NatGatewayState, operation_id: string) {
  const { name, vpc_id, project_id, tenant_id, family, public_address } = s;
  return audit(action, resource(s.id), {
    name,
    vpc_id,
    project_id,
    tenant_id,
    family,
    public_address,
    operation_id,
  });
}

function resource(id: string): string {
  return `NatGateway::"${id}"`;
}

export function natGatewayView(s: NatGatewayState): NatGateway {
  const { id, tenant_id, project_id, vpc_id, name, description, family, public_address, desired_generation } = s;
  return {
    id,
    tenant_id,
    project_id,
    project: project_id,
    vpc_id,
    vpc: vpc_id,
    name,
    description,
    family,
    public_address,
    edge_cluster_id: null,
    desired_generation,
    realized: { desired_generation, applied_generation: null, realizations: [] },
    created_at: toRfc3339(s.created_at),
    updated_at: toRfc3339(s.updated_at),
  };
}

export const natGateway: Behavior<NatGatewayState, NatGatewayMessage> = {
  kind: "nat-gateway",
  table: "nat_gateway",
  key: "id",
  step: (s, m, now) => runTable(natGatewayTable, s, m, now),
  deadline: () => null,
  view: natGatewayView,
  constraints: {
    nat_gateway_name: conflict("a nat gateway named <name> already exists in this VPC"),
    nat_gateway_of_vpc: conflict("the VPC is gone"),
  },
};
