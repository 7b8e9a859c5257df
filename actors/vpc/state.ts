// The row of a VPC, and the columns that all records in a VPC have.
import type { Named } from "../../src/lib/text/resource-name.ts";
import type { RecordState } from "../record/record.ts";

export type VpcState = RecordState<{
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly main_route_table_id: string;
  readonly vni: number;
  readonly ipv4_block: string | null;
  readonly ipv6_block: string | null;
}>;

/** The scope of a record in a VPC. It never changes. */
export type VpcPlace = { readonly tenant_id: string; readonly project_id: string; readonly vpc_id: string };

/** A record in a VPC, with the tenant and the project of the VPC. */
export type VpcMember = VpcPlace & Named & { readonly id: string };
