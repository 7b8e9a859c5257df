import { type AnyCommand, command } from "../../framework.ts";
import { printEnd, TIMEOUT_OPTION, WAIT_SUMMARY } from "../../internal/operation/wait.ts";
import { withIo } from "../open-io.ts";
import { OPERATION_ARGUMENT } from "./show.ts";

export function wait(): AnyCommand {
  return command("wait", WAIT_SUMMARY, "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012 --timeout 60")
    .argument(...OPERATION_ARGUMENT)
    .option(...TIMEOUT_OPTION)
    .action(withIo((io, id, { timeout }) => printEnd(io, id, timeout)));
}
