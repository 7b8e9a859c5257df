import type { AnyCommand } from "../../framework.ts";
import { list, remove, show } from "../record/verbs.ts";
import { create } from "./create.ts";
import { NETWORK_POOL } from "./pool.ts";

export function networkPoolVerbs(): AnyCommand[] {
  return [list(NETWORK_POOL), show(NETWORK_POOL), create(), remove(NETWORK_POOL)];
}
