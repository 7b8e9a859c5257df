import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { update } from "./update.ts";

export function projectVerbs(): AnyCommand[] {
  return [list(), show(), update()];
}
