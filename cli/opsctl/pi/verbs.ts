import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";

export function piVerbs(): AnyCommand[] {
  return [list()];
}
