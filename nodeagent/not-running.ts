import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

/** The text of the failure of work that needs a stopped VM. */
export const STILL_RUNS = "the machine still runs on its node";

/** The failure of work that needs a running VM. */
export function notRunning(): Failure {
  return new Failure("the machine does not run on its node", EXIT.conflict);
}

/** The failure of work that needs an answer from a VM's process. The process runs but does not answer. */
export function notAnswering(): Failure {
  return new Failure("the machine's process on its node does not answer now; try again", EXIT.failure);
}

/** The failure of a restart of the node while VMs run on it. */
export function vmsRun(count: number): Failure {
  const running = count === 1 ? "1 virtual machine runs" : `${count} virtual machines run`;
  return new Failure(`${running} on the node; drain it before it restarts`, EXIT.conflict);
}
