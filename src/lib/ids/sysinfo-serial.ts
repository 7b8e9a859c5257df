// Finds the serial number in a machine's announced inventory. The boot policy compares its service_tag entries with it.
import { memberOf } from "../text/sysinfo-member.ts";

/**
 * Returns the inventory's "Serial Number" without surrounding space, or null if it is missing or not a text. Never
 * throws.
 */
export function serialOf(sysinfo: unknown): string | null {
  const serial = memberOf(sysinfo, "Serial Number");
  return typeof serial === "string" && serial.trim() !== "" ? serial.trim() : null;
}
