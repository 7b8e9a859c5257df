// Builds DHCP packets like the packets of real clients.
import { ascii, COOKIE, OPTIONS_AT } from "../../booter/dhcp/packet.ts";

export type PacketParts = {
  readonly mac?: string;
  readonly xid?: number;
  readonly flags?: number;
  readonly ciaddr?: number;
  readonly giaddr?: number;
  readonly op?: number;
  readonly htype?: number;
  readonly hlen?: number;
  readonly cookie?: number;
  readonly options: readonly (readonly [number, Uint8Array])[];
};

export function clientPacket(parts: PacketParts): Uint8Array {
  const { options, mac = "52:54:00:aa:00:01" } = parts;
  const length = options.reduce((sum, [, value]) => sum + 2 + value.length, OPTIONS_AT + 1);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  bytes[0] = parts.op ?? 1;
  bytes[1] = parts.htype ?? 1;
  bytes[2] = parts.hlen ?? 6;
  view.setUint32(4, parts.xid ?? 0x12345678);
  view.setUint16(10, parts.flags ?? 0);
  view.setUint32(12, parts.ciaddr ?? 0);
  view.setUint32(24, parts.giaddr ?? 0);
  bytes.set(mac.split(":").map((octet) => Number.parseInt(octet, 16)), 28);
  view.setUint32(236, parts.cookie ?? COOKIE);
  let at = OPTIONS_AT;
  for (const [code, value] of options) {
    bytes[at] = code;
    bytes[at + 1] = value.length;
    bytes.set(value, at + 2);
    at += 2 + value.length;
  }
  bytes[at] = 255;
  return bytes;
}

export const DISCOVER_TYPE: readonly [number, Uint8Array] = [53, Uint8Array.of(1)];
export const REQUEST_TYPE: readonly [number, Uint8Array] = [53, Uint8Array.of(3)];

/** The options that each kind of client sends. */
export const CLIENTS = {
  bios: [[60, ascii("PXEClient:Arch:00000:UNDI:002001")], [93, Uint8Array.of(0, 0)], [97, new Uint8Array(17)]],
  uefi: [[60, ascii("PXEClient:Arch:00007:UNDI:003000")], [93, Uint8Array.of(0, 7)], [97, new Uint8Array(17)]],
  uefi_bc: [[60, ascii("PXEClient:Arch:00009:UNDI:003000")], [93, Uint8Array.of(0, 9)]],
  uefi_http: [[60, ascii("HTTPClient:Arch:00016:UNDI:003000")], [93, Uint8Array.of(0, 16)]],
  ipxe: [
    [60, ascii("PXEClient:Arch:00007:UNDI:003010")],
    [77, ascii("iPXE")],
    [93, Uint8Array.of(0, 7)],
    [57, Uint8Array.of(5, 192)],
  ],
  ipxe_rfc3004: [[77, ascii("\x04iPXE")]],
  arm64: [[60, ascii("PXEClient:Arch:00011:UNDI:003000")], [93, Uint8Array.of(0, 11)]],
  plain: [[60, ascii("SUNW.i86pc")]],
} as const satisfies Readonly<Record<string, readonly (readonly [number, Uint8Array])[]>>;

export type Reply = {
  readonly op: number;
  readonly xid: number;
  readonly flags: number;
  readonly yiaddr: number;
  readonly siaddr: number;
  readonly giaddr: number;
  readonly file: string;
  readonly options: ReadonlyMap<number, Uint8Array>;
  /** The option codes in the order of the packet. */
  readonly order: readonly number[];
};

export function readReply(bytes: Uint8Array): Reply {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const options = new Map<number, Uint8Array>();
  const order: number[] = [];
  for (let at = OPTIONS_AT; bytes[at] !== 255;) {
    const [code, length] = [bytes[at]!, bytes[at + 1]!];
    const before = options.get(code) ?? new Uint8Array(0);
    options.set(code, Uint8Array.from([...before, ...bytes.subarray(at + 2, at + 2 + length)]));
    if (order.at(-1) !== code) order.push(code);
    at += 2 + length;
  }
  const file = bytes.subarray(108, 236);
  return {
    op: bytes[0]!,
    xid: view.getUint32(4),
    flags: view.getUint16(10),
    yiaddr: view.getUint32(16),
    siaddr: view.getUint32(20),
    giaddr: view.getUint32(24),
    file: String.fromCharCode(...file.subarray(0, file.indexOf(0))),
    options,
    order,
  };
}

export function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : String.fromCharCode(...bytes);
}
