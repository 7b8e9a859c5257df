import type { Route } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";

export const ROUTE: Kind<Route> = {
  noun: "route",
  singular: "route",
  plural: "routes",
  title: "Route",
  path: "/v1/routes",
  sample: "default",
  parent: "route-table",
  columns: [
    ["ID", (route) => route.id],
    ["NAME", (route) => route.name],
    ["DEST", (route) => route.destination],
    ["TARGET", (route) => route.target],
  ],
  lines: (route) => [
    ["id", route.id],
    ["name", route.name],
    ["description", route.description],
    ["vpc", route.vpc],
    ["route_table", route.route_table],
    ["destination", route.destination],
    ["target", route.target],
  ],
};
