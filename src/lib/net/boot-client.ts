// Reads the values of a netboot request: DHCP options 60, 77, 93 and 97. Any machine in the network can send such a
// request. So malformed numbers and addresses become null, and texts are cleaned and cut.
import { parseIp } from "./ip-address.ts";

/** The values of a netboot request. `has_boot_file` is false if the booter has no file for the architecture. */
export type BootClientFacts = {
  readonly arch: number | null;
  readonly vendor_class: string | null;
  readonly user_class: string | null;
  readonly guid: string | null;
  readonly relay: string | null;
  readonly has_boot_file: boolean;
};

/** The longest vendor class or user class that is kept, in characters. Firmware sends about 32. */
const CLASS_CHARS_MAX = 64;
/** Architecture numbers have two bytes in DHCP option 93. */
const ARCH_MAX = 65_535;

/** Reads the member `client` of a booter's report. Never throws. */
export function bootClientFacts(client: Readonly<Record<string, unknown>>): BootClientFacts {
  const { arch, vendor_class, user_class, guid, relay, has_boot_file } = client;
  const hex = typeof guid === "string" ? guid.toLowerCase().replaceAll("-", "") : "";
  return {
    arch: typeof arch === "number" && Number.isInteger(arch) && arch >= 0 && arch <= ARCH_MAX ? arch : null,
    vendor_class: classText(vendor_class),
    user_class: classText(user_class),
    guid: /^[0-9a-f]{32}$/.test(hex) ? hex : null,
    relay: typeof relay === "string" && parseIp(relay)?.family === 4 ? relay : null,
    // A booter of an earlier release does not send this member. It reports only machines for which it has a boot file.
    has_boot_file: has_boot_file !== false,
  };
}

function classText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.replace(/[^\x20-\x7e]/g, "?").slice(0, CLASS_CHARS_MAX);
  return text === "" ? null : text;
}

/** Names of the numbers in DHCP option 93. For x86-64 UEFI, RFC 4578 has 9 and the registry of IANA has 7. */
const ARCHITECTURES: ReadonlyMap<number, string> = new Map([
  [0, "x86 BIOS"],
  [6, "x86 UEFI"],
  [7, "x86-64 UEFI"],
  [9, "x86-64 UEFI"],
  [10, "ARM 32-bit UEFI"],
  [11, "ARM 64-bit UEFI"],
  [15, "x86 UEFI HTTP"],
  [16, "x86-64 UEFI HTTP"],
  [18, "ARM 32-bit UEFI HTTP"],
  [19, "ARM 64-bit UEFI HTTP"],
  [20, "x86 BIOS HTTP"],
  [27, "RISC-V 64-bit UEFI"],
  [28, "RISC-V 64-bit UEFI HTTP"],
]);

/** Returns the name of an architecture; its number if it has no name here, and `unknown` for null. */
export function architectureText(arch: number | null): string {
  if (arch === null) return "unknown";
  return ARCHITECTURES.get(arch) ?? `number ${arch}`;
}

/**
 * Returns the two GUIDs that a machine with this UUID can send. The first is the UUID as it is printed. The second is
 * the UUID as SMBIOS stores it: its first three fields are little-endian.
 */
export function guidsOfUuid(uuid: string): readonly [string, string] {
  const printed = uuid.toLowerCase().replaceAll("-", "");
  const octets = printed.match(/../g) ?? [];
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  return [printed, order.map((at) => octets[at] ?? "").join("")];
}
