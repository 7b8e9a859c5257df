import type { BootRecord } from "../../../../src/contract/boot.ts";
import { type AnyCommand, command, each } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { argumentsGiven, argumentsText, CLEAR_OPTION, CONSOLE_OPTION, KERNEL_ARG_OPTION } from "./boot-arguments.ts";
import { checkMac, MAC_ARGUMENT, recordPath } from "./record.ts";

export function bootArguments(): AnyCommand {
  return command(
    "arguments",
    "Replace the kernel arguments and the console of a machine",
    "02:00:5e:00:53:01 --kernel-arg nomodeset --console ttyb:57600",
  )
    .argument(...MAC_ARGUMENT)
    .option(...KERNEL_ARG_OPTION, each)
    .option(...CONSOLE_OPTION)
    .option(...CLEAR_OPTION)
    .action(withIo(async (io, text, given) => {
      const body = argumentsGiven(given);
      const path = `${recordPath(checkMac(text))}/arguments`;
      const record = await io.send<BootRecord>({ method: "PUT", path, body });
      const set = plainText(argumentsText(record)) || "none of its own";
      io.print(record, `Arguments of ${plainText(record.mac)}: ${set}; applied at its next netboot`);
    }));
}
