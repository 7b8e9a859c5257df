// The serial number in a machine's announced inventory, which service_tag entries are compared with.
import { memberOf } from "../text/sysinfo-member.ts";

/** Returns the text of "Serial Number" without surrounding space, or null. Never throws. */
export function serialOf(sysinfo: unknown): string | null {
  const serial = memberOf(sysinfo, "Serial Number");
  return typeof serial === "string" && serial.trim() !== "" ? serial.trim() : null;
}
