import type { RouteTable } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";
import { ID_COLUMN } from "../../internal/table.ts";

export const ROUTE_TABLE: Kind<RouteTable> = {
  noun: "route-table",
  singular: "route table",
  plural: "route tables",
  title: "Route table",
  path: "/v1/route-tables",
  has_labels: true,
  sample: "public",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["NAME", (table) => table.name],
    ["ID", (table) => table.id, ID_COLUMN],
    ["MAIN", (table) => table.is_main ? "yes" : "no"],
  ],
  lines: (table) => [
    ["id", table.id],
    ["name", table.name],
    ["vpc", table.vpc],
    ["project", table.project],
    ["is_main", table.is_main],
  ],
};
