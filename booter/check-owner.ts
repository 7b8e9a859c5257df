// Checks who owns the files with keys, because only their owner and root can read them. `booter check` usually runs as
// root, so it reads such a file even if the service cannot.
import { readFile, stat } from "node:fs/promises";
import { fail, type Finding } from "./check-finding.ts";
import type { BooterConfig } from "./config.ts";

/** The user of booter.service. */
const USER = "berth-booter";

/**
 * Returns a finding for each key file that belongs to another user than the service. Returns no finding if the user of
 * the service is root or unknown, or if this process does not run as root. `runs_as` is the user id of this process.
 */
export async function ownerFindings({ state_dir, control_plane, https }: BooterConfig, runs_as: number) {
  const service = runs_as === 0 ? await serviceUser(state_dir) : null;
  if (service === null || service === 0) return [];
  const paths = { "control_plane.key_file": control_plane.key_file, "https.key_file": https?.key_file };
  const findings: Finding[] = [];
  for (const [name, path] of Object.entries(paths)) {
    // Another check reports a file that does not exist.
    const owner = path === undefined ? undefined : await stat(path).then(({ uid }) => uid, () => undefined);
    if (owner === undefined || owner === service) continue;
    findings.push(
      fail(`${name}: the service cannot read ${path}, because another user owns it; run: chown ${USER} ${path}`),
    );
  }
  return findings;
}

/**
 * Returns the owner of the state folder, or the unit's user if the service has not run yet. Returns null if neither
 * exists.
 */
async function serviceUser(state_dir: string): Promise<number | null> {
  const owner = await stat(state_dir).then(({ uid }) => uid, () => null);
  if (owner !== null) return owner;
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const uid = users.split("\n").find((line) => line.startsWith(`${USER}:`))?.split(":")[2];
  return uid === undefined ? null : Number(uid);
}
