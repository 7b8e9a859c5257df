import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { ROUTE_TABLE } from "./route-table.ts";

export function routeTableVerbs(): AnyCommand[] {
  return [list(ROUTE_TABLE), show(ROUTE_TABLE), create(), update(ROUTE_TABLE), remove(ROUTE_TABLE)];
}
