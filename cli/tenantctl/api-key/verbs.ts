import type { AnyCommand } from "../../framework.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";

export function apiKeyVerbs(): AnyCommand[] {
  return [list(), create(), remove()];
}
