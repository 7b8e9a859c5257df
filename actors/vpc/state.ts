// The row of a VPC, and what the rows of all that is in one have in common.
import type { Named } from "../../src/lib/text/resource-name.ts";

export type VpcState = {
  readonly state: "live";
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly main_route_table_id: string;
  readonly vni: number;
  readonly ipv4_block: string | null;
  readonly ipv6_block: string | null;
  readonly created_at: Date;
} & Named;

/** Something in a VPC: its tenant and project are the VPC's. */
export type VpcMember = {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly vpc_id: string;
} & Named;

/** Where something in a VPC stands, which never changes. */
export type VpcPlace = Pick<VpcMember, "tenant_id" | "project_id" | "vpc_id">;
