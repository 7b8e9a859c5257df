import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { ROUTE } from "./route.ts";

export function routeVerbs(): AnyCommand[] {
  return [list(ROUTE), show(ROUTE), create(), update(ROUTE), remove(ROUTE)];
}
