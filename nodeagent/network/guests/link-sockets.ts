// Opens IPv6 sockets. They report the device on which a packet arrived, and send through a given device from the
// router's address on this device. Bun's own sockets cannot do either and do not support ICMP, so these sockets call
// the C library. A read never waits; the caller reads often.
import type { ForeignFunctions } from "./bun.ts";
import { foreignFunctions } from "./bun.ts";

/** Constants of Linux, equal on amd64 and arm64. */
const LINUX = {
  family_ipv6: 10,
  datagram: 2,
  raw: 3,
  close_on_exec: 0o2000000,
  do_not_wait: 0x40,
  protocol_icmp: 58,
  level_ipv6: 41,
  option_unicast_hops: 16,
  option_multicast_hops: 18,
  option_only_ipv6: 26,
  option_icmp_filter: 1,
  control_packet_info: 50,
  request_device_name: 0x8910,
  request_device_index: 0x8933,
} as const;

/**
 * Bytes of `struct sockaddr_in6`, `struct ifreq`, `struct msghdr`, and the control data with a `struct in6_pktinfo`.
 */
const SOCKET_ADDRESS_BYTES = 28;
const DEVICE_REQUEST_BYTES = 40;
const MESSAGE_BYTES = 56;
const CONTROL_BYTES = 40;
const CONTROL_LENGTH = 36;
/** Longest name of a device with its final zero byte. */
const DEVICE_NAME_BYTES = 16;
const ADDRESS_BYTES = 16;
/** Largest packet that is read. DHCPv6 requests and router solicitations are shorter. */
const PACKET_BYTES_MAX = 1_500;
/** Maximum number of packets that one call reads. Further packets, such as a guest's flood, wait for the next call. */
const PACKETS_MAX = 64;
/** Neighbour discovery ignores packets with a smaller hop limit, because a router has forwarded them (RFC 4861). */
const HOP_LIMIT = 255;

export type LinkPacket = {
  readonly data: Uint8Array;
  /** The sender's address, 16 bytes. */
  readonly from: Uint8Array;
  /** The port; 0 for ICMP. */
  readonly port: number;
  readonly device: string;
};
export type LinkDestination = Pick<LinkPacket, "device" | "port"> & { readonly to: Uint8Array };

export type LinkSocket = {
  /** Returns the packets that wait. */
  receive(): readonly LinkPacket[];
  /** Sends a packet. Drops it if the device does not exist or the kernel refuses it. */
  send(data: Uint8Array, destination: LinkDestination): void;
  close(): void;
};

export type LinkSockets = {
  /** Opens a socket for ICMPv6 messages of one type in the current namespace. Throws an Error if that fails. */
  icmp(type: number, source: Uint8Array): LinkSocket;
  /** Opens a UDP socket on a port in the current namespace. Throws an Error if that fails. */
  udp(port: number, source: Uint8Array): LinkSocket;
};

export async function openLinkSockets(): Promise<LinkSockets> {
  const ffi = await foreignFunctions();
  const libc = ffi.dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    recvfrom: { args: ["i32", "ptr", "u64", "i32", "ptr", "ptr"], returns: "i32" },
    sendmsg: { args: ["i32", "ptr", "i32"], returns: "i32" },
    ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  }).symbols;

  function open(kind: number, protocol: number, source: Uint8Array): LinkSocket & { readonly descriptor: number } {
    const descriptor = libc.socket(LINUX.family_ipv6, kind | LINUX.close_on_exec, protocol);
    if (descriptor < 0) throw new Error("cannot open an IPv6 socket");
    for (const option of [LINUX.option_unicast_hops, LINUX.option_multicast_hops]) {
      set(descriptor, LINUX.level_ipv6, option, Int32Array.of(HOP_LIMIT));
    }
    return {
      descriptor,
      receive: () => receive(descriptor),
      send: (data, destination) => send(ffi, descriptor, { data, source, ...destination }),
      close: () => void libc.close(descriptor),
    };
  }

  function set(descriptor: number, level: number, option: number, value: Int32Array | Uint32Array): void {
    if (libc.setsockopt(descriptor, level, option, value, value.byteLength) !== 0) {
      libc.close(descriptor);
      throw new Error(`cannot set the option ${option} of an IPv6 socket`);
    }
  }

  function receive(descriptor: number): readonly LinkPacket[] {
    const packets: LinkPacket[] = [];
    const [buffer, address] = [new Uint8Array(PACKET_BYTES_MAX), new Uint8Array(SOCKET_ADDRESS_BYTES)];
    while (packets.length < PACKETS_MAX) {
      const length = Uint32Array.of(SOCKET_ADDRESS_BYTES);
      const bytes = libc.recvfrom(descriptor, buffer, buffer.length, LINUX.do_not_wait, address, length);
      if (bytes < 0) break;
      const view = new DataView(address.buffer);
      const device = nameOf(descriptor, view.getUint32(24, true));
      if (device === null) continue;
      packets.push({ data: buffer.slice(0, bytes), from: address.slice(8, 24), port: view.getUint16(2), device });
    }
    return packets;
  }

  /** Returns the name of a device in the namespace of the socket. The caller need not be in this namespace. */
  function nameOf(descriptor: number, index: number): string | null {
    const request = new Uint8Array(DEVICE_REQUEST_BYTES);
    new DataView(request.buffer).setInt32(DEVICE_NAME_BYTES, index, true);
    if (libc.ioctl(descriptor, LINUX.request_device_name, request) !== 0) return null;
    return new TextDecoder().decode(request.subarray(0, request.indexOf(0)));
  }

  function indexOf(descriptor: number, device: string): number | null {
    const request = new Uint8Array(DEVICE_REQUEST_BYTES);
    request.set(new TextEncoder().encode(device).subarray(0, DEVICE_NAME_BYTES - 1));
    if (libc.ioctl(descriptor, LINUX.request_device_index, request) !== 0) return null;
    return new DataView(request.buffer).getInt32(DEVICE_NAME_BYTES, true);
  }

  function send(
    { ptr }: ForeignFunctions,
    descriptor: number,
    { data, source, to, port, device }: LinkDestination & { readonly data: Uint8Array; readonly source: Uint8Array },
  ): void {
    const index = indexOf(descriptor, device);
    if (index === null) return;
    const address = socketAddress(to, port, index);
    const control = new Uint8Array(CONTROL_BYTES);
    const controls = new DataView(control.buffer);
    controls.setBigUint64(0, BigInt(CONTROL_LENGTH), true);
    controls.setInt32(8, LINUX.level_ipv6, true);
    controls.setInt32(12, LINUX.control_packet_info, true);
    control.set(source, 16);
    controls.setUint32(16 + ADDRESS_BYTES, index, true);
    const part = BigUint64Array.of(BigInt(ptr(data)), BigInt(data.length));
    const message = new DataView(new ArrayBuffer(MESSAGE_BYTES));
    message.setBigUint64(0, BigInt(ptr(address)), true);
    message.setUint32(8, address.length, true);
    message.setBigUint64(16, BigInt(ptr(part)), true);
    message.setBigUint64(24, 1n, true);
    message.setBigUint64(32, BigInt(ptr(control)), true);
    message.setBigUint64(40, BigInt(control.length), true);
    libc.sendmsg(descriptor, new Uint8Array(message.buffer), LINUX.do_not_wait);
  }

  return {
    icmp: (type, source) => {
      const socket = open(LINUX.raw, LINUX.protocol_icmp, source);
      // Each bit of the filter belongs to one ICMPv6 type. A set bit drops the messages of its type.
      const filter = new Uint32Array(8).fill(0xffff_ffff);
      filter[type >> 5]! &= ~(1 << (type & 31));
      set(socket.descriptor, LINUX.protocol_icmp, LINUX.option_icmp_filter, filter);
      return socket;
    },
    udp: (port, source) => {
      const socket = open(LINUX.datagram, 0, source);
      set(socket.descriptor, LINUX.level_ipv6, LINUX.option_only_ipv6, Int32Array.of(1));
      const unspecified = socketAddress(new Uint8Array(ADDRESS_BYTES), port, 0);
      if (libc.bind(socket.descriptor, unspecified, unspecified.length) === 0) return socket;
      socket.close();
      throw new Error(`cannot bind UDP port ${port} of IPv6`);
    },
  };
}

function socketAddress(address: Uint8Array, port: number, device_index: number): Uint8Array {
  const bytes = new Uint8Array(SOCKET_ADDRESS_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, LINUX.family_ipv6, true);
  view.setUint16(2, port);
  bytes.set(address, 8);
  view.setUint32(24, device_index, true);
  return bytes;
}
