import { printEnd, TIMEOUT_OPTION, WAIT_SUMMARY } from "../../internal/operation/wait.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";

export function wait(): AnyCommand {
  return command("wait", WAIT_SUMMARY, "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012 --timeout 60")
    .argument("<operation>", "operation id (opsctl operation list)")
    .option(...TIMEOUT_OPTION)
    .action(withIo((io, id, { timeout }) => printEnd(io, id, timeout)));
}
