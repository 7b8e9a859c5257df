import { type AnyCommand, command, each } from "../../../../framework.ts";
import { usageFailure } from "../../../../internal/failure.ts";
import { plainText } from "../../../../internal/plain-text.ts";
import { withIo } from "../../../../internal/run.ts";
import { argumentsGiven, argumentsText, CLEAR_OPTION, CONSOLE_OPTION, KERNEL_ARG_OPTION } from "../boot-arguments.ts";
import { changePolicy } from "./policy.ts";

export function labelArguments(): AnyCommand {
  return command(
    "arguments",
    "Replace the kernel arguments and the console of all nodes with a label",
    "model=r640 --kernel-arg nomodeset --console ttyb",
  )
    .argument("<label>", "label of the nodes: KEY=VALUE")
    .option(...KERNEL_ARG_OPTION, each)
    .option(...CONSOLE_OPTION)
    .option(...CLEAR_OPTION)
    .action(withIo(async (io, label, given) => {
      if (!label.includes("=")) throw usageFailure(`${label} is not a label; give KEY=VALUE`);
      const body = argumentsGiven(given);
      const policy = await changePolicy(io, ({ label_arguments }) => {
        const entry = { label, ...body };
        const at = label_arguments.findIndex((one) => one.label === label);
        if (given.clear === true) return { label_arguments: label_arguments.filter((one) => one.label !== label) };
        return { label_arguments: at < 0 ? [...label_arguments, entry] : label_arguments.with(at, entry) };
      });
      const set = plainText(argumentsText(body)) || "none";
      io.print(policy, `Arguments of nodes with ${plainText(label)}: ${set}; applied at their next netboots`);
    }));
}
