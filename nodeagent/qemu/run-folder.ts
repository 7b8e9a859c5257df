// Creates the folder of a VM's sockets. QEMU creates the sockets as its own user. Then root becomes the owner of the
// folder, so that a QEMU that a guest took over cannot replace its sockets by links to other sockets of the node.
import { chmod, chown, mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { VmPlaces } from "./folders.ts";

const PASSABLE = 0o711;
const OWNER_ONLY = 0o700;

/** Creates an empty folder in which QEMU can create its sockets. */
export async function createRunFolder({ run_folder, output_folder }: VmPlaces, uid: number): Promise<void> {
  await mkdir(dirname(run_folder), { recursive: true, mode: PASSABLE });
  // The umask of the agent's unit removes permissions from a new folder.
  await chmod(dirname(run_folder), PASSABLE);
  await rm(run_folder, { recursive: true, force: true });
  for (const folder of [run_folder, output_folder]) {
    await mkdir(folder, { mode: OWNER_ONLY });
    await chown(folder, uid, uid);
  }
}

/** Makes root the owner of the folder. QEMU keeps its sockets and the folder for its output. */
export async function lockRunFolder({ run_folder }: VmPlaces): Promise<void> {
  await chown(run_folder, 0, 0);
  await chmod(run_folder, PASSABLE);
}
