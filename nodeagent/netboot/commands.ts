// nodeagent netboot: defines the commands that the services of a Linux node image run. Help does not list these
// commands.
import { DISK_LAYOUTS } from "../../src/contract/enums.ts";
import { type AnyCommand, command, group } from "../../cli/framework.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Ended } from "../../cli/internal/failure.ts";
import { environmentOf } from "../../cli/internal/run.ts";
import { runProgram } from "../qemu/run-program.ts";
import { announce } from "./announce.ts";
import { BOOT_FOLDER } from "./boot-files.ts";
import { configure } from "./configure.ts";
import { layoutText } from "./disk-layout.ts";
import { MACHINE_ROOTS, machineDisks } from "./sysinfo.ts";

export function netboot(): AnyCommand {
  return group("netboot", "Run the parts of a Linux node image", [configureCommand(), announceCommand(), layout()]);
}

function configureCommand(): AnyCommand {
  return command("configure", "Apply the boot record of this machine").action(() =>
    configure({ boot_folder: BOOT_FOLDER, root: "" })
  ) as AnyCommand;
}

function announceCommand(): AnyCommand {
  return command("announce", "Announce this machine to the booter, and run its setup").action(
    async (_options, member) => {
      const { stderr, signal } = environmentOf(member as AnyCommand);
      await announce({
        boot_folder: BOOT_FOLDER,
        roots: MACHINE_ROOTS,
        signal,
        restart: async () => void await runProgram(["systemctl", "reboot"]),
        log: (line) => void stderr.write(`netboot: ${line}\n`),
      });
    },
  ) as AnyCommand;
}

/** The command has the options of SmartOS's layout tool, so that one setup script can call either tool. */
function layout(): AnyCommand {
  return command("disk-layout", "Print the layout of this machine's disks")
    .argument("[layout]", `one of ${DISK_LAYOUTS.join(", ")}`)
    .option("-c", "no cache")
    .option("-e <names>", "disks to leave out, separated by commas")
    .option("-s <count>", "number of spares")
    .option("-w <count>", "disks per stripe")
    .action(async (name, options, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      const given = options as { c?: true; e?: string; s?: string; w?: string };
      const numberOf = (text: string | undefined) => text === undefined ? null : Number(text);
      try {
        stdout.write(layoutText(await machineDisks(MACHINE_ROOTS), {
          layout: name ?? null,
          width: numberOf(given.w),
          spares: numberOf(given.s),
          cache: given.c !== true,
          exclude: given.e === undefined ? [] : given.e.split(","),
        }));
      } catch (error) {
        // Prints the error to the standard output, as SmartOS's tool does, because the setup script reports this text.
        stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
        throw new Ended(EXIT.failure);
      }
    }) as AnyCommand;
}
