import type { AnyCommand } from "../../framework.ts";
import { set } from "./set.ts";
import { show } from "./show.ts";
import { unset } from "./unset.ts";

export function quotaVerbs(): AnyCommand[] {
  return [show(), set(), unset()];
}
