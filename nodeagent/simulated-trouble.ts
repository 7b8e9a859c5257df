// Trouble that a simulated machine is told to have, by a file that is read before every step: it can be changed while the
// agent runs.
import { join } from "node:path";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPlainFile } from "../cli/internal/private-file.ts";
import type { Environment } from "../cli/internal/environment.ts";
import type { Driver } from "./driver.ts";
import { PowerLost } from "./power-lost.ts";
import { STEP_NAMES } from "./job-steps.ts";

type Trouble = {
  /** Milliseconds that each step takes longer. */
  readonly slow_ms?: number;
  /** Steps that fail. */
  readonly fail_at?: readonly string[];
  /** Steps at which the machine loses its power. */
  readonly vanish_at?: readonly string[];
};

const FILE = "trouble.json";

export const TROUBLE_HELP = `
Trouble of a simulated machine: the file ${FILE} in the state folder, read before every step of a job.
  {"slow_ms": 2000, "fail_at": ["provision:boot"], "vanish_at": ["stop:halt"]}
  slow_ms    each step takes so much longer
  fail_at    these steps fail; the node undoes its part and reports the reason
  vanish_at  the agent ends at these steps as if the power was lost, and goes on when it is started again
Steps:
${STEP_NAMES.map((step) => `  ${step}`).join("\n")}
KIND:undo is the undoing of a job of that kind, which is never slow.`;

export function simulatedTrouble(state_dir: string, environment: Environment): Driver["beforeStep"] {
  const path = join(state_dir, FILE);
  return async (step, signal) => {
    const { slow_ms = 0, fail_at = [], vanish_at = [] } = parse(path, await readPlainFile(path));
    if (slow_ms > 0 && !step.endsWith(":undo")) await environment.sleepMs(slow_ms, signal);
    if (vanish_at.includes(step)) throw new PowerLost(step);
    if (fail_at.includes(step)) throw new Failure(`told to fail by ${FILE}`, EXIT.failure);
  };
}

function parse(path: string, text: string | null): Trouble {
  if (text === null) return {};
  try {
    return JSON.parse(text) as Trouble;
  } catch {
    throw new Failure(`${path} is not JSON`, EXIT.failure);
  }
}
