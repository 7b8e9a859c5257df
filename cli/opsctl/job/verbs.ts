import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";

export function jobVerbs(): AnyCommand[] {
  return [list(), show()];
}
