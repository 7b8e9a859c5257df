// Injects the faults of a simulated machine. A file lists the faults. The agent reads the file before every step, so
// that the faults can change while the agent runs.
import { join } from "node:path";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPlainFile } from "../cli/internal/private-file.ts";
import type { Environment } from "../cli/internal/environment.ts";
import type { Driver } from "./driver.ts";
import { PowerLost } from "./power-lost.ts";
import { STEP_NAMES } from "./job-steps.ts";

type Trouble = {
  /** Delay of each step, in milliseconds. */
  readonly slow_ms?: number;
  /** Steps that fail, as KIND:STEP. */
  readonly fail_at?: readonly string[];
  /** Steps at which the machine loses power, as KIND:STEP. */
  readonly vanish_at?: readonly string[];
};

const FILE = "trouble.json";

export const TROUBLE_HELP = `
Faults of a simulated machine: the file ${FILE} in the state directory, read before every step of a job.
  {"slow_ms": 2000, "fail_at": ["provision:boot"], "vanish_at": ["stop:halt"]}
  slow_ms    delay of each step, in milliseconds
  fail_at    these steps fail; the node undoes what can be undone and reports the reason
  vanish_at  the agent ends at these steps as on a power loss, and continues when it is restarted
Steps:
${STEP_NAMES.map((step) => `  ${step}`).join("\n")}
KIND:undo means the undo of a job of that kind. slow_ms does not delay the undo.`;

export function simulatedTrouble(state_dir: string, environment: Environment): Driver["beforeStep"] {
  const path = join(state_dir, FILE);
  return async (step, signal) => {
    const { slow_ms = 0, fail_at = [], vanish_at = [] } = parse(path, await readPlainFile(path));
    if (slow_ms > 0 && !step.endsWith(":undo")) await environment.sleepMs(slow_ms, signal);
    if (vanish_at.includes(step)) throw new PowerLost(step);
    if (fail_at.includes(step)) throw new Failure(`failed on request of ${FILE}`, EXIT.failure);
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
