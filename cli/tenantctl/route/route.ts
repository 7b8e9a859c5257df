import type { Route, RouteTarget } from "../../../src/contract/network.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { ID_COLUMN } from "../../internal/table.ts";

export const ROUTE: Kind<Route> = {
  noun: "route",
  singular: "route",
  plural: "routes",
  title: "Route",
  path: "/v1/routes",
  has_labels: true,
  waits: true,
  sample: "default",
  parent: "route-table",
  columns: [
    ["NAME", (route) => route.name],
    ["ID", (route) => route.id, ID_COLUMN],
    ["DEST", (route) => route.destination],
    ["TARGET", (route) => targetText(route.target)],
    PENDING_COLUMN,
  ],
  lines: (route) => [
    ["id", route.id],
    ["name", route.name],
    ["description", route.description],
    ["vpc", route.vpc],
    ["route_table", route.route_table],
    ["destination", route.destination],
    ["target", targetText(route.target)],
  ],
};

/** Returns the target, as in `blackhole` or `nat_gateway 33333333-...`. */
function targetText({ kind, ...record }: RouteTarget): string {
  return [kind, ...Object.values(record)].join(" ");
}
