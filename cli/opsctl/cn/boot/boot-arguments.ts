// Defines the options for kernel arguments and the console. One command sets them for a machine, another for a label.
import type { BootArguments, BootConsole } from "../../../../src/contract/boot.ts";
import { BOOT_CONSOLES } from "../../../../src/contract/enums.ts";
import { BOOT_CONSOLE_SPEED_DEFAULT } from "../../../../src/contract/limits.ts";
import { usageFailure } from "../../../internal/failure.ts";

export const KERNEL_ARG_OPTION = ["--kernel-arg <argument>", "kernel argument; may be repeated"] as const;
export const CONSOLE_OPTION = [
  "--console <port>",
  `text (the screen), or a serial port from ttya to ttyd (ttyS0 to ttyS3 on Linux), such as ttyb or ttyb:57600`,
] as const;
export const CLEAR_OPTION = ["--clear", "remove the arguments and the console"] as const;

type Given = {
  readonly kernelArg?: readonly string[] | undefined;
  readonly console?: string | undefined;
  readonly clear?: true | undefined;
};

/** Returns the body of the request: all arguments and the console. They replace the stored ones. */
export function argumentsGiven({ kernelArg, console, clear }: Given): BootArguments {
  const is_set = kernelArg !== undefined || console !== undefined;
  if (is_set === (clear === true)) throw usageFailure("pass --kernel-arg or --console, or --clear alone");
  return { kernel_args: [...kernelArg ?? []], console: console === undefined ? null : consoleOf(console) };
}

function consoleOf(text: string): BootConsole {
  const [name = "", speed = String(BOOT_CONSOLE_SPEED_DEFAULT)] = text.split(":");
  const port = BOOT_CONSOLES.find((each) => each === name);
  if (port !== undefined && /^\d{1,6}$/.test(speed)) return { port, speed: Number(speed) };
  throw usageFailure(
    `--console ${text}: must be one of ${BOOT_CONSOLES.join(", ")}; a port may have a speed, as in ttyb:57600`,
  );
}

export function argumentsText({ kernel_args, console }: BootArguments): string {
  const own = consoleText(console);
  return [...kernel_args, ...(own === null ? [] : [`console ${own}`])].join(" ");
}

export function consoleText(console: BootConsole | null): string | null {
  if (console === null) return null;
  return console.port === "text" ? console.port : `${console.port}:${console.speed}`;
}
