// Finds the serial number in a machine's announced inventory. The service_tag entries of the boot policy are compared
// with this number.
import { memberOf } from "../text/sysinfo-member.ts";

/**
 * Returns the inventory's "Serial Number" without surrounding space, or null if it is missing, empty or not a text.
 * Never throws.
 */
export function serialOf(sysinfo: unknown): string | null {
  const serial = memberOf(sysinfo, "Serial Number");
  return typeof serial === "string" && serial.trim() !== "" ? serial.trim() : null;
}
