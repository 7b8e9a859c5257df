// Implements `nodeagent check`. For each requirement of VMs, the command prints whether this machine meets it, and if
// not, how to fix this.
import { type AnyCommand, command } from "../cli/framework.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { environmentOf } from "../cli/internal/run.ts";
import { checkMachine } from "./qemu/check-machine.ts";
import { MACHINE_DIR, RUN_DIR } from "./qemu/folders.ts";

const SUBJECT_COLUMNS = 20;
const SEVERITY_COLUMNS = 8;

export function check(): AnyCommand {
  return command("check", "Check whether this machine can run VMs, and print what to install")
    .option("--machine-dir <folder>", "directory of disks and images", MACHINE_DIR)
    .option("--json", "print JSON")
    .action(async (options, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      const findings = await checkMachine({ machine_dir: options.machineDir, run_dir: RUN_DIR });
      if (options.json === true) stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
      else {
        for (const { subject, severity, note } of findings) {
          stdout.write(`${severity.padEnd(SEVERITY_COLUMNS)} ${subject.padEnd(SUBJECT_COLUMNS)} ${note}\n`);
        }
      }
      const lacking = findings.filter(({ severity }) => severity === "missing").length;
      if (lacking > 0) {
        throw new Failure(`this machine cannot run VMs; fix what is marked missing (${lacking})`, EXIT.failure);
      }
    }) as AnyCommand;
}
