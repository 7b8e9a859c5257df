// Makes findings. The function's name is the finding's level.
import type { Finding } from "../../contract/node-diagnosis.ts";

/** Returns a problem: the machine is not usable until it is fixed. */
export function stops(text: string, mend: string | null = null): Finding {
  return { level: "stops", text, mend };
}

/** Returns a warning: the machine is usable all the same. */
export function warns(text: string, mend: string | null = null): Finding {
  return { level: "warns", text, mend };
}
