import { printEnd, TIMEOUT_OPTION, WAIT_SUMMARY } from "../../internal/operation/wait.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { OPERATION_ARGUMENT, OPERATION_SAMPLE } from "./operation.ts";

export function wait(): AnyCommand {
  return command("wait", WAIT_SUMMARY, `${OPERATION_SAMPLE} --timeout 60`)
    .argument(...OPERATION_ARGUMENT)
    .option(...TIMEOUT_OPTION)
    .action(withIo((io, id, { timeout }) => printEnd(io, id, timeout)));
}
