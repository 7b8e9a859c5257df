// Derives findings from the netboot requests of machines (docs/booting.md, "Netboot requests").
import type { BootClient } from "../../contract/boot.ts";
import type { Finding } from "../../contract/node-diagnosis.ts";
import { stops, warns } from "./finding.ts";

/** Lists why the booter cannot boot the machine that sent this request. */
export function bootFileFindings(mac: string, client: BootClient | null): Finding[] {
  if (client === null || client.has_boot_file) return [];
  const text = `the booter has no boot file for the architecture of ${mac}: ${client.architecture} ` +
    `(last request at ${client.seen_at})`;
  return [
    stops(text, "if the machine has another boot mode, select it in its setup screen; docs/booting.md lists them"),
  ];
}

/**
 * Reports machines that boot with the UUID of a node and are not the node. `macs` are ports that do not belong to the
 * node.
 */
export function strangePortFindings(macs: readonly string[]): Finding[] {
  if (macs.length === 0) return [];
  const text = `another machine sent the UUID of this node in its netboot request (${macs.join(" ")})`;
  return [warns(text, "give one of the two boards its own UUID; ignore this if the port belongs to this node")];
}
