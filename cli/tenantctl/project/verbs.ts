import type { AnyCommand } from "../../framework.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { update } from "./update.ts";

export function projectVerbs(): AnyCommand[] {
  return [list(), show(), create(), update(), remove()];
}
