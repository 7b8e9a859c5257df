// Reads the health of the storage from the arrays of Linux's software RAID (mdraid). A redundant array that lost a disk
// still works, but the loss of a second disk can lose all instances of the node.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { INSTANCE_POOL } from "../../src/contract/limits.ts";
import { readLine, SYSTEM_FOLDERS } from "./hardware.ts";

/** The state of each pool by its name, as in a status report (docs/nodes.md, "Reports of a node"). */
export type Pools = Readonly<Record<string, { readonly status: PoolStatus; readonly health: string }>>;
type PoolStatus = "ONLINE" | "DEGRADED" | "FAULTED";

type Damage = { readonly status: PoolStatus; readonly text: string };

/** Returns the pool of instances, which is as healthy as the arrays of the machine. Without arrays it is healthy. */
export async function readPools({ sys } = SYSTEM_FOLDERS): Promise<Pools> {
  const names = (await readdir(join(sys, "block")).catch(() => [])).filter((name) => /^md/.test(name)).sort();
  const damages = (await Promise.all(names.map((name) => damageOf(join(sys, "block", name, "md"), name)))).flat();
  if (damages.length === 0) return { [INSTANCE_POOL]: { status: "ONLINE", health: "healthy" } };
  const status = damages.some(({ status }) => status === "FAULTED") ? "FAULTED" : "DEGRADED";
  const health = `${status.toLowerCase()}: ${damages.map(({ text }) => text).join(", ")}`;
  return { [INSTANCE_POOL]: { status, health } };
}

async function damageOf(folder: string, name: string): Promise<readonly Damage[]> {
  // "broken" is the state of an array that lost more disks than its layout allows.
  if (await readLine(join(folder, "array_state")) === "broken") {
    return [{ status: "FAULTED", text: `${name} has failed` }];
  }
  // Layouts without redundancy have no file "degraded". During a rebuild the new disk still counts as missing.
  const missing = Number.parseInt(await readLine(join(folder, "degraded")) ?? "0");
  if (!(missing > 0)) return [];
  // While an array is reshaped, the file raid_disks has the old number in parentheses after the new one.
  const disks = Number.parseInt(await readLine(join(folder, "raid_disks")) ?? "0");
  return [{ status: "DEGRADED", text: `${name} lacks ${missing} of ${disks} disks` }];
}
