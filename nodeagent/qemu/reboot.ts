// Restarts this machine for a job of the control plane, and reads which platform image this machine booted.
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { BOOT_FOLDER, readBootFiles } from "../netboot/boot-files.ts";
import { vmsRun } from "../not-running.ts";
import { runProgram } from "./run-program.ts";
import type { VmStore } from "./vm-store.ts";

/**
 * Time for the agent to report the end of the job before the machine restarts. The machine restarts even if the report
 * takes longer.
 */
const REBOOT_AFTER_S = 10;

export type Reboot = {
  readonly store: Pick<VmStore, "all">;
  /** The id of the current boot. */
  readonly boot_id: string;
  /** Runs a program; replaced in tests. */
  readonly run?: (argv: readonly string[]) => Promise<unknown>;
};

/**
 * Restarts the machine after some seconds. Does nothing if the machine has restarted since the boot with the id
 * `wanted`. Throws a Failure if a VM runs or moves. systemd runs the timer, so the machine restarts even if the agent
 * ends.
 */
export async function reboot({ store, boot_id, run = runProgram }: Reboot, wanted: string): Promise<void> {
  if (boot_id !== wanted) return;
  const running = store.all().filter(({ power, move }) => power !== "off" || move).length;
  if (running > 0) throw vmsRun(running);
  try {
    await run(["systemd-run", `--on-active=${REBOOT_AFTER_S}`, "systemctl", "reboot"]);
  } catch (error) {
    throw new Failure(`the machine cannot restart itself: ${(error as Error).message}`, EXIT.failure);
  }
}

/** Returns the stamp of the platform image that the booter sent; null for a machine that boots from its own disks. */
export async function bootedImage(folder = BOOT_FOLDER): Promise<string | null> {
  const files = await readBootFiles(folder).catch(() => null);
  return files?.properties.get("platform_stamp") ?? null;
}
