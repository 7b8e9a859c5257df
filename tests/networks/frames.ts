// Builds Python programs that send raw frames from a machine. Most frames contain a mark, by which a receiver
// recognises the frame.
import type { Machine } from "./documents.ts";

export const MARK = "berth-attack";

/** Python functions that build packets: `ip`, `ip6` and `udp`, which adds the mark. */
const HELPERS = `
import socket, struct, sys, time
mac = lambda text: bytes.fromhex(text.replace(":", ""))
v4, v6 = socket.inet_aton, lambda text: socket.inet_pton(socket.AF_INET6, text)
MARK = b"${MARK}"
ALL = b"\\xff" * 6
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 65535)
    return ~(total + (total >> 16)) & 65535
def ip(source, destination, protocol, body):
    head = struct.pack("!BBHHHBBH4s4s", 69, 0, 20 + len(body), 1, 0, 64, protocol, 0, v4(source), v4(destination))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body
def ip6(source, destination, header, body, hops=64):
    return struct.pack("!IHBB", 0x60000000, len(body), header, hops) + v6(source) + v6(destination) + body
def udp(source, destination, data=b""):
    data = data + MARK
    return struct.pack("!HHHH", source, destination, 8 + len(data), 0) + data
`;

/**
 * Returns a Python program that runs these statements three times. The statements send frames from eth0 with
 * `send(destination MAC, source MAC, type, body)`.
 */
export function sender(from: Machine, router_mac: string, statements: string): string {
  return `${HELPERS}
me, router = mac("${from.mac}"), mac("${router_mac}")
frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
frames.bind(("eth0", 0))
def send(destination, source, kind, body):
    frames.send(destination + source + struct.pack("!H", kind) + body)
for _ in range(3):
    ${statements.trim().split("\n").map((line) => line.trim()).join("\n    ")}
    time.sleep(0.02)
`;
}

/** Returns a Python program that sends a packet of a VPC to a node, as a host on the underlay could. */
export function foreignVxlan(given: {
  readonly vni: number;
  readonly node: string;
  readonly from_router: string;
  readonly to_router: string;
  readonly source: string;
  readonly destination: string;
}): string {
  const [type, header] = given.source.includes(":") ? ['b"\\x86\\xdd"', "ip6"] : ['b"\\x08\\0"', "ip"];
  return `${HELPERS}
tunnel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
frame = mac("${given.to_router}") + mac("${given.from_router}") + ${type} + ${header}(
    "${given.source}", "${given.destination}", 17, udp(9, 9999))
for _ in range(3):
    tunnel.sendto(b"\\x08\\0\\0\\0" + struct.pack("!I", ${given.vni} << 8) + frame, ("${given.node}", 4789))
`;
}
