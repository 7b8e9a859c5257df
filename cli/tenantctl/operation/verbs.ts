import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { wait } from "./wait.ts";

export function operationVerbs(): AnyCommand[] {
  return [list(), show(), wait()];
}
