import type { AnyCommand } from "../../framework.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { set } from "./set.ts";
import { unset } from "./unset.ts";

export function configVerbs(): AnyCommand[] {
  return [list(), get(), set(), unset()];
}
