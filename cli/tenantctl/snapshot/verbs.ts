import type { AnyCommand } from "../../framework.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";
import { SNAPSHOT } from "./snapshot.ts";

export function snapshotVerbs(): AnyCommand[] {
  return [list(), show(SNAPSHOT), create(), update(SNAPSHOT), remove()];
}
