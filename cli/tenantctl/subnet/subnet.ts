import type { Subnet } from "../../../src/contract/network.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN, WIDE_ID_COLUMN } from "../../internal/table.ts";

export const SUBNET: Kind<Subnet> = {
  noun: "subnet",
  singular: "subnet",
  plural: "subnets",
  title: "Subnet",
  path: "/v1/subnets",
  has_labels: true,
  waits: true,
  sample: "front",
  parent: "vpc",
  columns: [
    ["NAME", (subnet) => subnet.name],
    ["ID", (subnet) => subnet.id, ID_COLUMN],
    ["IPV4_BLOCK", (subnet) => subnet.ipv4_block],
    ["IPV6_BLOCK", (subnet) => subnet.ipv6_block],
    ["KIND", (subnet) => subnet.kind],
    ["AGE", (subnet) => subnet.created_at, AGE_COLUMN],
    ["VPC", (subnet) => subnet.vpc, WIDE_ID_COLUMN],
    ["ROUTE_TABLE", (subnet) => subnet.route_table_id, WIDE_ID_COLUMN],
    ["DESCRIPTION", (subnet) => subnet.description, WIDE_COLUMN],
    ["CREATED_AT", (subnet) => subnet.created_at, WIDE_COLUMN],
    PENDING_COLUMN,
  ],
  lines: (subnet) => [
    ["id", subnet.id],
    ["name", subnet.name],
    ["description", subnet.description],
    ["kind", subnet.kind],
    ["ipv4_block", subnet.ipv4_block],
    ["ipv6_block", subnet.ipv6_block],
    ["vpc", subnet.vpc],
    ["route_table", subnet.route_table_id],
    ["created_at", subnet.created_at],
  ],
};
