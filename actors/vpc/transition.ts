// A VPC of a project. Making one also makes its main route table, in the same commit; it goes only when nothing but that
// table and its routes is left in it (document 3, Networking rules; document 4, 1.15, Delete guards).
import { conflict, type Fault, fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { Vpc } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type GivenBlocks, readBlocks, storedBlock } from "../../src/lib/net/ip-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, effect, go, guard, lock, otherwise, refuse, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { VpcState } from "./state.ts";

export type VpcMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly tenant_id: string;
    readonly project_id: string;
    readonly name: string;
    readonly description: string;
    readonly main_route_table_id: string;
    /** Numbers to try, in this order. */
    readonly vnis: readonly number[];
  } & GivenBlocks
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

type Live = At<VpcState, "live">;

/** Of all VPCs: a number may only be looked for by one at a time. */
const VNI_LOCK = "pool:vni";
const NO_VNI: Fault = fault("unavailable", "no free VNI was found; try again");

export const vpcTable: Table<VpcState, VpcMessage> = {
  create: { absent: create, live: "vpc exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<VpcMessage, "create">, now: Date): Out<VpcState> {
  const { id, tenant_id, project_id, main_route_table_id, name, description } = m;
  const read = readBlocks(m, "vpc");
  if ("message" in read) return refuse(read);
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  const withNumber = (vni: number, rest: Out<VpcState> | null): Out<VpcState> =>
    go(
      {
        id,
        state: "live",
        tenant_id,
        project_id,
        main_route_table_id,
        name,
        description,
        vni,
        ...read.text,
        created_at: now,
      },
      lock(lockKey("project", project_id), true),
      lock(VNI_LOCK),
      guard("vni_is_free", { vni }, NO_VNI),
      withActor({ kind: "route-table", id: main_route_table_id }, {
        type: "create",
        id: main_route_table_id,
        tenant_id,
        project_id,
        vpc_id: id,
        name: "main",
        description: `The main route table of VPC ${name}`,
        is_main: true,
      }),
      audit("vpc_create", resource(id), { name, tenant_id, project_id, vni, ...read.text }),
      ...(rest === null ? [] : [otherwise(rest)]),
    );
  const first = m.vnis.reduceRight<Out<VpcState> | null>((rest, vni) => withNumber(vni, rest), null);
  return first ?? refuse(NO_VNI);
}

function update(s: Live, m: Of<VpcMessage, "update">): Out<VpcState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    // Whoever adds to the VPC refers to its row, which this writes.
    lock(lockKey("vpc", s.id)),
    audit("vpc_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<VpcState> {
  const { id: vpc_id, name, tenant_id, project_id } = s;
  return go<VpcState>(
    null,
    lock(lockKey("vpc", vpc_id)),
    guard("vpc_is_empty", { vpc_id }, `vpc ${vpc_id} still holds <WHAT>; delete that first`),
    effect("vpc_routes_gone", { vpc_id }),
    withActor({ kind: "route-table", id: s.main_route_table_id }, { type: "vpc_deleted" }),
    audit("vpc_delete", resource(vpc_id), { name, tenant_id, project_id }),
  );
}

function resource(id: string): string {
  return `Vpc::"${id}"`;
}

export function vpcView(s: VpcState): Vpc {
  const { id, tenant_id, project_id, main_route_table_id, name, description, vni } = s;
  return {
    id,
    tenant_id,
    project_id,
    project: project_id,
    main_route_table_id,
    name,
    description,
    vni,
    ipv4_block: storedBlock(s.ipv4_block),
    ipv6_block: storedBlock(s.ipv6_block),
    created_at: toRfc3339(s.created_at),
  };
}

export const vpc: Behavior<VpcState, VpcMessage> = {
  kind: "vpc",
  table: "vpc",
  key: "id",
  step: (s, m, now) => runTable(vpcTable, s, m, now),
  deadline: () => null,
  view: vpcView,
  constraints: {
    vpc_name: conflict("a vpc named <name> already exists in this project"),
    vpc_vni: NO_VNI,
    vpc_project_fkey: NOT_FOUND,
  },
};
