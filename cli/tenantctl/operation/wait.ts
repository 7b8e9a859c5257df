import { type AnyCommand, command } from "../../framework.ts";
import { printEnd, TIMEOUT_OPTION, WAIT_SUMMARY } from "../../internal/operation/wait.ts";
import { withIo } from "../open-io.ts";
import { OPERATION_ARGUMENT } from "./show.ts";

export function wait(): AnyCommand {
  return command("wait", WAIT_SUMMARY)
    .argument(...OPERATION_ARGUMENT)
    .option(...TIMEOUT_OPTION)
    .action(withIo((io, id, { timeout }) => printEnd(io, id, timeout)));
}
