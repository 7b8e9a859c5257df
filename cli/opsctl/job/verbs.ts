import type { AnyCommand } from "../../framework.ts";
import { list, show } from "../record/verbs.ts";
import { JOB } from "./job.ts";

export function jobVerbs(): AnyCommand[] {
  return [list(JOB), show(JOB)];
}
