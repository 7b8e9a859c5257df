// The serial number in a machine's announced inventory, which service_tag entries are matched against (document 4,
// Fixed here).
import { memberOf } from "../text/sysinfo-member.ts";

/** The text of "Serial Number" without surrounding space, or null when there is none. Never throws. */
export function serialOf(sysinfo: unknown): string | null {
  const serial = memberOf(sysinfo, "Serial Number");
  return typeof serial === "string" && serial.trim() !== "" ? serial.trim() : null;
}
