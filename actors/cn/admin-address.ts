// The address at which operators reach a node. The address in the node's boot record has priority, because the booter
// assigned it. If the boot record has no address, the node has the address that its agent reports. A report without an
// address changes nothing.
import type { CnState } from "./state.ts";

export function reportedAdminIp(
  s: Pick<CnState, "admin_ip" | "bound_macs">,
  reported: { readonly admin_ip: string | null },
): string | null {
  const netbooted = s.bound_macs.length > 0 && s.admin_ip !== null;
  return netbooted ? s.admin_ip : reported.admin_ip ?? s.admin_ip;
}
