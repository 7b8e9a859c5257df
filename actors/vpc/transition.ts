// A VPC of a project. A create also creates the main route table, in the same commit. A delete is refused while the VPC
// holds anything except that table and its routes (docs/networking.md).
import { conflict, type Fault, fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { Vpc } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type GivenBlocks, readBlocks, storedBlock } from "../../src/lib/net/ip-block.ts";
import { unusableBlockFault } from "../../src/lib/net/unusable-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { type Named, nameFault } from "../../src/lib/text/resource-name.ts";
import { audit, effect, go, guard, insert, lock, otherwise, refuse, withActor } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import { type Create, type Delete, record, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import { type ReplaceFirewall, replaceFirewall } from "./firewall-set.ts";
import type { VpcState } from "./state.ts";

type Fields = Named & GivenBlocks & {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly main_route_table_id: string;
  /** The VNIs to try, in this order. */
  readonly vnis: readonly number[];
};

export type VpcMessage = Create<Fields> | Update | Delete | ReplaceFirewall;

/** One lock for all VPCs, so that only one commit at a time looks for a free VNI. */
const VNI_LOCK = "pool:vni";
const NO_VNI: Fault = fault("unavailable", "no free VNI was found; try again");

export const vpc = record<VpcState, VpcMessage, Vpc>({
  kind: "vpc",
  table: "vpc",
  noun: "vpc",
  resource: "Vpc",
  create,
  update: {
    action: "vpc_update",
    // The create of an object in the VPC takes the same lock, because the object's row refers to this row.
    parts: ({ id }) => [lock(lockKey("vpc", id))],
  },
  delete: {
    action: "vpc_delete",
    note: ["name", "tenant_id", "project_id"],
    parts: ({ id: vpc_id, project_id, main_route_table_id, vni }) => [
      lock(lockKey("vpc", vpc_id)),
      guard("vpc_is_empty", { vpc_id }, `vpc ${vpc_id} still holds <WHAT>, which must be deleted first`),
      effect("vpc_routes_gone", { vpc_id }),
      withActor({ kind: "route-table", id: main_route_table_id }, { type: "vpc_deleted" }),
      // The VNI stays taken while a node may have the VPC.
      insert("ended_vpc", { vpc_id, vni, project_id }),
      vpcChanged({ vpc_id }),
    ],
  },
  others: { replace_firewall: { absent: "missing", live: replaceFirewall } },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    project: row.project_id,
    main_route_table_id: row.main_route_table_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    vni: row.vni,
    ipv4_block: storedBlock(row.ipv4_block),
    ipv6_block: storedBlock(row.ipv6_block),
    realized: null,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    vpc_name: conflict("a vpc named <name> already exists in this project"),
    vpc_vni: NO_VNI,
    vpc_project_fkey: NOT_FOUND,
  },
});

/** Returns one alternative per VNI. The commit takes the first free VNI. */
function create(_s: null, m: Create<Fields>, now: Date): Out<VpcState> {
  const { id, tenant_id, project_id, main_route_table_id, name, description } = m;
  const read = readBlocks(m, "vpc");
  if (isFault(read)) return refuse(read);
  const labels = m.labels ?? {};
  const wrong = unusableBlockFault(read) ?? nameFault(name) ?? labelsFault(labels);
  if (wrong !== null) return refuse(wrong);
  const columns = { id, tenant_id, project_id, main_route_table_id, name, description, labels, ...read.text };
  const withNumber = (vni: number, rest: Out<VpcState> | null): Out<VpcState> =>
    go(
      { ...columns, state: "live", vni, created_at: now },
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
      vpcChanged({ vpc_id: id }),
      audit("vpc_create", `Vpc::"${id}"`, { name, tenant_id, project_id, vni, ...read.text }),
      ...(rest === null ? [] : [otherwise(rest)]),
    );
  const first = m.vnis.reduceRight<Out<VpcState> | null>((rest, vni) => withNumber(vni, rest), null);
  return first ?? refuse(NO_VNI);
}
