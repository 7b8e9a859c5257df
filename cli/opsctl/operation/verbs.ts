import type { AnyCommand } from "../../framework.ts";
import { list, show } from "../record/verbs.ts";
import { abandon } from "./abandon.ts";
import { OPERATION, OPERATIONS } from "./operation.ts";
import { wait } from "./wait.ts";

export function operationVerbs(): AnyCommand[] {
  return [list(OPERATIONS), show(OPERATION), wait(), abandon()];
}
