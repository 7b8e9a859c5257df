// Finds the pools that a node reports as damaged. An agent may report any JSON, so a pool without a status text is
// ignored.
import type { Finding } from "../../contract/node-diagnosis.ts";
import { memberOf, membersOf } from "../text/sysinfo-member.ts";
import { warns } from "./finding.ts";

/** The status of a pool without damage, in a status report. */
export const WHOLE_POOL = "ONLINE";
const DEGRADED = "DEGRADED";
const REPLACE_DISK = "on the node: cat /proc/mdstat; replace the disk, then: mdadm /dev/<array> --add /dev/<disk>";
const MOVE_AWAY = "on the node: cat /proc/mdstat; move its instances away, then set the node up again";

/** Returns a warning for each damaged pool of a status report. */
export function poolFindings(last_status: unknown): Finding[] {
  return membersOf(memberOf(last_status, "pools")).flatMap(([name, pool]) => {
    const [status, health] = [memberOf(pool, "status"), memberOf(pool, "health")];
    if (typeof status !== "string" || status === WHOLE_POOL) return [];
    return [
      warns(
        `its pool ${name} is ${typeof health === "string" ? health : status}`,
        status === DEGRADED ? REPLACE_DISK : MOVE_AWAY,
      ),
    ];
  });
}
