// The address at which operators reach a node. If the node has a boot record and an address, reports do not change the
// address, because it normally comes from the boot record. Otherwise the node gets the address that its agent reports.
// A report without an address changes nothing.
import type { CnState } from "./state.ts";

export function reportedAdminIp(
  s: Pick<CnState, "admin_ip" | "bound_macs">,
  reported: { readonly admin_ip: string | null },
): string | null {
  const netbooted = s.bound_macs.length > 0 && s.admin_ip !== null;
  return netbooted ? s.admin_ip : reported.admin_ip ?? s.admin_ip;
}
