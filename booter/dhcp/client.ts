// Recognizes which program sent a DHCP packet. iPXE must be tested first, because it repeats the class and the
// architecture of the firmware that started it.
import type { Architecture, ClientKind } from "../decision.ts";
import { hexOf } from "../hex.ts";
import { ipv4Text } from "../ipv4.ts";
import { type DhcpPacket, latin } from "./packet.ts";

export type DhcpClient = {
  readonly kind: ClientKind;
  readonly class: string;
  readonly arch: number | null;
  readonly architecture: Architecture;
  readonly guid: string | null;
  /** The address of the relay that forwarded the packet; null without a relay. */
  readonly relay: string | null;
};

/** Architecture numbers of RFC 4578 and its registry. Some x86-64 firmware sends 9 (xcat-core #7645). */
const BIOS = 0;
const UEFI_X64: ReadonlySet<number> = new Set([7, 9]);
const UEFI_HTTP_X64 = 16;
const UEFI_ARM64 = 11;
const UEFI_HTTP_ARM64 = 19;
const HTTP_ARCHS: ReadonlySet<number> = new Set([15, 16, 17, 18, 19, 20]);

/** Reads the client from a packet. Returns null if the identity in option 97 is malformed (RFC 4578, 2.3). */
export function readClient(packet: DhcpPacket): DhcpClient | null {
  const guid = packet.options.get(97);
  if (guid !== undefined && (guid.length !== 17 || guid[0] !== 0)) return null;
  const arch = knownArch(packet.options.get(93));
  const identity = {
    class: latin(packet.options.get(60)),
    arch,
    architecture: arch === UEFI_ARM64 || arch === UEFI_HTTP_ARM64 ? "arm64" as const : "x86_64" as const,
    guid: guid === undefined ? null : hexOf(guid.subarray(1)),
    relay: packet.giaddr === 0 ? null : ipv4Text(packet.giaddr),
  };
  return { kind: kindOf(identity, latin(packet.options.get(77))), ...identity };
}

function kindOf(identity: { class: string; arch: number | null }, user_class: string): ClientKind {
  const { arch, class: vendor_class } = identity;
  // iPXE omits the length byte that RFC 3004 requires.
  if (user_class === "iPXE" || user_class === "\x04iPXE") {
    return arch === null || arch === BIOS || isUefi(arch) || isUefiHttp(arch) ? "ipxe" : "foreign";
  }
  const is_pxe = vendor_class.startsWith("PXEClient");
  if (vendor_class.startsWith("HTTPClient") || (is_pxe && isUefiHttp(arch))) {
    return arch === null || isUefiHttp(arch) || isUefi(arch) ? "uefi_http" : "foreign";
  }
  if (!is_pxe) return "plain";
  if (arch === null || arch === BIOS) return "bios";
  return isUefi(arch) ? "uefi" : "foreign";
}

function isUefi(arch: number): boolean {
  return UEFI_X64.has(arch) || arch === UEFI_ARM64;
}

function isUefiHttp(arch: number | null): boolean {
  return arch === UEFI_HTTP_X64 || arch === UEFI_HTTP_ARM64;
}

/**
 * Returns the first known architecture in the list of option 93. If no architecture is known, returns the first
 * architecture in the list.
 */
function knownArch(value: Uint8Array | undefined): number | null {
  if (value === undefined || value.length < 2) return null;
  for (let at = 0; at + 1 < value.length; at += 2) {
    const arch = value[at]! * 256 + value[at + 1]!;
    if (arch === BIOS || isUefi(arch) || HTTP_ARCHS.has(arch)) return arch;
  }
  return value[0]! * 256 + value[1]!;
}

/**
 * Describes the client for the control plane. The class is cut to 64 printable characters. `has_boot_file` is false for
 * an architecture that the booter has no boot file for.
 */
export function clientReport({ kind, class: vendor_class, arch, guid, relay }: DhcpClient): Record<string, unknown> {
  const text = vendor_class.replace(/[^\x20-\x7e]/g, "?").slice(0, 64);
  return {
    arch,
    user_class: kind === "ipxe" ? "iPXE" : null,
    vendor_class: text === "" ? null : text,
    guid,
    relay,
    ...(kind === "foreign" ? { has_boot_file: false } : {}),
  };
}
