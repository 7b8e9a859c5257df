import type { AnyCommand } from "../../framework.ts";
import { cnInstances } from "./cn-instances.ts";

export function systemVerbs(): AnyCommand[] {
  return [cnInstances()];
}
