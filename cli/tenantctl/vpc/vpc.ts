import type { Vpc } from "../../../src/contract/network.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";

export const VPC: Kind<Vpc> = {
  noun: "vpc",
  singular: "VPC",
  plural: "VPCs",
  title: "Vpc",
  path: "/v1/vpcs",
  has_labels: true,
  sample: "web",
  parent: "project",
  columns: [
    ["NAME", (vpc) => vpc.name],
    ["ID", (vpc) => vpc.id, ID_COLUMN],
    ["IPV4_BLOCK", (vpc) => vpc.ipv4_block],
    ["IPV6_BLOCK", (vpc) => vpc.ipv6_block],
    ["AGE", (vpc) => vpc.created_at, AGE_COLUMN],
    ["DESCRIPTION", (vpc) => vpc.description, WIDE_COLUMN],
    ["VNI", (vpc) => vpc.vni],
    PENDING_COLUMN,
    ["CREATED_AT", (vpc) => vpc.created_at, WIDE_COLUMN],
  ],
  lines: (vpc) => [
    ["id", vpc.id],
    ["name", vpc.name],
    ["description", vpc.description],
    ["ipv4_block", vpc.ipv4_block],
    ["ipv6_block", vpc.ipv6_block],
    ["vni", vpc.vni],
    ["project", vpc.project],
    ["created_at", vpc.created_at],
  ],
};
