import type { AnyCommand } from "../../framework.ts";
import { explain } from "./explain.ts";

export function placementVerbs(): AnyCommand[] {
  return [explain()];
}
