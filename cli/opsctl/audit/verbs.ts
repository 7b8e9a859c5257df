import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";
import { verify } from "./verify.ts";

export function auditVerbs(): AnyCommand[] {
  return [list(), verify()];
}
