import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { PLACEMENT_GROUP } from "./placement-group.ts";

export function placementGroupVerbs(): AnyCommand[] {
  return [list(PLACEMENT_GROUP), show(PLACEMENT_GROUP), create(), update(PLACEMENT_GROUP), remove(PLACEMENT_GROUP)];
}
