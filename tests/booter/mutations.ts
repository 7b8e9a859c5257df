// Mutates packets of real clients by changing some bytes. Passes them to the DHCP handler, to AMQP sessions, and to the
// parser of TFTP requests. The stress test uses a million packets of each kind; the other tests use at most 100,000.
import { Buffer } from "node:buffer";
import { frame, METHOD, PROTOCOL_HEADER } from "../../cli/internal/amqp/frame.ts";
import { newSession } from "../../booter/amqp/session.ts";
import { longText, shortText, u16, u32, u64, u8 } from "../../cli/internal/amqp/wire.ts";
import { newCounters } from "../../booter/counters.ts";
import { OPTIONS_AT } from "../../booter/dhcp/packet.ts";
import { dhcpHandler, type Sent } from "../../booter/dhcp/server.ts";
import { NO_LEASES } from "../../booter/dhcp/leases.ts";
import { newTransactions } from "../../booter/dhcp/transactions.ts";
import type { Records } from "../../booter/api-client/records.ts";
import { bootFacts } from "../../booter/api-client/wire.ts";
import { readRequest } from "../../booter/tftp/packet.ts";
import { agree } from "../../booter/tftp/transfer.ts";
import { factsOf } from "./facts.ts";
import { clientPacket, CLIENTS, DISCOVER_TYPE, readReply, REQUEST_TYPE } from "./packets.ts";
import { seeded } from "./seeded.ts";
import { dotted } from "./site.ts";

const MUTATED_MAC = "52:54:00:aa:00:01";
const SOURCE = { address: "10.0.0.99", port: 68 };

export type Mutated = {
  /**
   * The number of mutated packets that got a DHCP reply, opened an AMQP session or were valid TFTP requests. If this
   * number is 0, the test proves nothing.
   */
  readonly reached: number;
  readonly violations: readonly string[];
};

/** Returns a DHCP handler that knows one enrolled machine and passes its replies to `send`. */
export function dhcpFixture(send: (sent: Sent) => void) {
  const facts = bootFacts(factsOf({ state: "enrolled", assigned_pi: "image" }));
  const found = (mac: string) => ({ facts: mac === MUTATED_MAC ? facts : null, verified: true });
  const records: Records = {
    fresh: found,
    find: (mac) => Promise.resolve(found(mac)),
    macOf: () => null,
    policy: () => ({ enrollment_pi: null, enrollment_kernel_args: [] }),
    refresh: () => Promise.resolve(true),
    cached: () => [],
    pending: () => 0,
    reachable: () => true,
  };
  const counters = newCounters();
  const handle = dhcpHandler({
    rules: { segments: [{ address: "10.0.0.1", prefix_len: 24 }], relays: [], relay_reply: "giaddr", is_proxy: false },
    records,
    settings: () => ({
      answer_only_pxe: true,
      enrollment_pi: null,
      staged: new Set(["image"]),
      arm64_images: new Set<string>(),
      has_arm64: false,
    }),
    transactions: newTransactions(64),
    leases: NO_LEASES,
    requests: { received: () => {}, lookedUp: () => {} },
    bootFile: () => "file",
    counters,
    log: () => {},
  }, send);
  return { handle, counters };
}

/**
 * Checks that every reply goes to the machine that may boot, directly or through a relay of its network. Also checks
 * that no reply is a NAK.
 */
export function mutatedDhcp(count: number): Mutated {
  const violations: string[] = [];
  let replies = 0;
  const { handle, counters } = dhcpFixture(({ bytes, address }) => {
    replies += 1;
    const fault = replyFault(bytes, address);
    if (fault !== null && violations.length < 100) violations.push(fault);
  });
  const corpus = [DISCOVER_TYPE, REQUEST_TYPE].flatMap((type) =>
    Object.values(CLIENTS).map((client) =>
      clientPacket({ options: [type, [50, Uint8Array.of(10, 0, 0, 10)], ...client] })
    )
  );
  const random = seeded(13);
  for (let round = 0; round < count; round++) {
    const bytes = Uint8Array.from(corpus[round % corpus.length]!);
    for (let change = 0; change < 2; change++) {
      // Changes bytes before the end of the MAC address, or bytes of the options.
      const at = random() < 0.4
        ? Math.floor(random() * 34)
        : OPTIONS_AT + Math.floor(random() * (bytes.length - OPTIONS_AT));
      bytes[at] = Math.floor(random() * 256);
    }
    handle(bytes.subarray(0, random() < 0.1 ? Math.floor(random() * bytes.length) : bytes.length), SOURCE);
  }
  const errors = counters.valueOf("dhcp_errors_total");
  if (errors > 0) violations.push(`${errors} packets made the server throw`);
  return { reached: replies, violations };
}

function replyFault(bytes: Uint8Array, address: string): string | null {
  const reply = readReply(bytes);
  const type = reply.options.get(53)?.[0];
  if (type !== 2 && type !== 5) return `a reply of type ${type}`;
  const mac = [...bytes.subarray(28, 34)].map((octet) => octet.toString(16).padStart(2, "0")).join(":");
  if (mac !== MUTATED_MAC || dotted(reply.yiaddr) !== "10.0.0.10") return `a reply to ${mac}, ${dotted(reply.yiaddr)}`;
  const relay = dotted(reply.giaddr);
  if (!["255.255.255.255", "10.0.0.10", relay].includes(address)) return `a reply was sent to ${address}`;
  return reply.giaddr === 0 || relay.startsWith("10.0.0.") ? null : `a reply to the foreign relay ${relay}`;
}

/** Checks that a session never throws, and that it has released all reserved bytes after its end. */
export function mutatedAmqp(count: number): Mutated {
  const whole = amqpStream();
  const random = seeded(3);
  const violations: string[] = [];
  let opened = 0;
  let held = 0;
  for (let round = 0; round < count; round++) {
    const bytes = Buffer.from(whole);
    for (let change = 0; change < 2; change++) {
      bytes[8 + Math.floor(random() * (bytes.length - 8))] = Math.floor(random() * 256);
    }
    const session = newSession({
      write: () => {},
      end: () => {},
      login: () => MUTATED_MAC,
      claim: () => true,
      hold: (size) => {
        held += size;
        return true;
      },
      opened: () => void (opened += 1),
      consuming: () => {},
      fault: () => {},
      published: () => {},
    });
    const cut = Math.floor(random() * bytes.length);
    try {
      session.receive(bytes.subarray(0, cut));
      session.receive(bytes.subarray(cut));
      session.ended();
    } catch (error) {
      if (violations.length < 100) violations.push(`stream ${round}: ${error}`);
    }
  }
  if (held !== 0) violations.push(`${held} bytes are still reserved`);
  return { reached: opened, violations };
}

/** Returns the protocol header and ten frames: a login, a queue, a consumer and a message. */
function amqpStream(): Buffer {
  const start_ok = Buffer.concat([u16(10), u16(11), u32(0), shortText("PLAIN"), longText("\0u\0p"), shortText("en")]);
  const method = (channel: number, ...parts: Buffer[]) => frame(METHOD, channel, Buffer.concat(parts));
  return Buffer.concat([
    PROTOCOL_HEADER,
    method(0, start_ok),
    method(0, u16(10), u16(31), u16(0), u32(131_072), u16(30)),
    method(0, u16(10), u16(40), shortText("/"), shortText(""), u8(0)),
    method(1, u16(20), u16(10), shortText("")),
    method(1, u16(50), u16(10), u16(0), shortText(""), u8(0), u32(0)),
    method(1, u16(60), u16(20), u16(0), shortText(""), shortText(""), u8(0), u32(0)),
    method(1, u16(60), u16(40), u16(0), shortText(""), shortText("k"), u8(0)),
    frame(2, 1, Buffer.concat([u16(60), u16(0), u64(3), u16(0)])),
    frame(3, 1, Buffer.from("abc")),
    method(1, u16(60), u16(80), u64(1), u8(0)),
  ]);
}

/** Reads mutated TFTP requests. Checks that nothing is thrown, and that no file name begins with a slash. */
export function mutatedTftp(count: number): Mutated {
  const strings = (...parts: string[]) => parts.map((part) => `${part}\0`).join("");
  const packet = (opcode: number, text: string) =>
    Uint8Array.from(`\0${String.fromCharCode(opcode)}${text}`, (char) => char.charCodeAt(0) & 255);
  const corpus = [
    packet(1, strings("undionly.kpxe", "octet", "blksize", "1468")),
    packet(1, strings("snponly.efi", "octet")),
    packet(2, strings("x", "octet")),
    Uint8Array.of(0, 4, 0, 1),
  ];
  const random = seeded(11);
  const violations: string[] = [];
  let read = 0;
  for (let round = 0; round < count; round++) {
    const bytes = Uint8Array.from(corpus[round % corpus.length]!);
    for (let change = 0; change < 2; change++) {
      bytes[2 + Math.floor(random() * (bytes.length - 2))] = Math.floor(random() * 256);
    }
    try {
      const cut = random() < 0.1 ? Math.floor(random() * bytes.length) : bytes.length;
      const request = readRequest(bytes.subarray(0, cut));
      if (request === null) continue;
      read += 1;
      agree(request.options, 1);
      if (request.name.startsWith("/")) violations.push(`a name begins with a slash: ${request.name}`);
    } catch (error) {
      if (violations.length < 100) violations.push(`packet ${round}: ${error}`);
    }
  }
  return { reached: read, violations };
}
