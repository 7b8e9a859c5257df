// Builds findings. The name of each function is the level of its findings.
import type { Finding } from "../../contract/node-diagnosis.ts";

/** Returns a problem: the machine is not usable until the problem is fixed. */
export function stops(text: string, mend: string | null = null): Finding {
  return { level: "stops", text, mend };
}

/** Returns a warning: the machine is usable in spite of the problem. */
export function warns(text: string, mend: string | null = null): Finding {
  return { level: "warns", text, mend };
}

/** The warning about a node without an admin_ip, which `opsctl cn exec` needs. */
export const NO_ADMIN_IP = "it has no admin_ip: opsctl cn exec cannot reach it";

/** The warning about a node without an underlay address. A site with one node needs no underlay. */
export const NO_UNDERLAY_ADDRESS = "it has no underlay address: instances on other nodes cannot reach its instances";
