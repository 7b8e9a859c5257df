import type { AnyCommand } from "../../framework.ts";
import { update } from "../record/update.ts";
import { actions } from "./action.ts";
import { openConsoleVerb } from "./console.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { INSTANCE } from "./instance.ts";
import { list } from "./list.ts";
import { log } from "./log.ts";
import { show } from "./show.ts";

export function instanceVerbs(): AnyCommand[] {
  return [list(), show(), create(), ...actions(), openConsoleVerb(), log(), update(INSTANCE), remove()];
}
