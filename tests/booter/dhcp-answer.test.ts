// Tests DHCP replies and their destinations, for netboot clients and relays, and every REQUEST that gets no reply.
import { describe, expect, test } from "vitest";
import { answerDhcp, type DhcpRules, type Segment } from "../../booter/dhcp/answer.ts";
import { readClient } from "../../booter/dhcp/client.ts";
import { readPacket } from "../../booter/dhcp/packet.ts";
import { bootFacts } from "../../booter/api-client/wire.ts";
import { ipv4Number } from "../../booter/ipv4.ts";
import { clientPacket, CLIENTS, DISCOVER_TYPE, type PacketParts, readReply, REQUEST_TYPE, textOf } from "./packets.ts";
import { factsOf } from "./facts.ts";

const number = (text: string) => ipv4Number(text)!;
const address = (text: string) => Uint8Array.of(...text.split(".").map(Number));
const SEGMENTS: readonly Segment[] = [
  { address: "10.0.0.1", prefix_len: 24 },
  { address: "10.9.0.1", prefix_len: 24 },
];
const RULES: DhcpRules = { segments: SEGMENTS, relays: [], relay_reply: "giaddr", is_proxy: false };
const POLICY = {
  answer_only_pxe: true,
  enrollment_pi: "image",
  staged: new Set(["image"]),
  arm64_images: new Set<string>(),
  has_arm64: false,
};
const SCRIPT = "http://10.0.0.1:80/script/TICKET";

function ask(
  parts: PacketParts,
  changes: { facts?: Record<string, unknown>; rules?: Partial<DhcpRules>; only_pxe?: boolean } = {},
) {
  const packet = readPacket(clientPacket(parts));
  if (typeof packet === "string") throw new Error(packet);
  return answerDhcp({
    asked: "dhcp",
    packet,
    client: readClient(packet)!,
    source: { address: "10.0.0.99", port: 4_011 },
    record: bootFacts(factsOf(changes.facts)),
    verified: true,
    policy: { ...POLICY, answer_only_pxe: changes.only_pxe ?? true },
    rules: { ...RULES, ...changes.rules },
    bootFile: (kind, server) =>
      kind === "ipxe" ? SCRIPT : kind === "uefi_http" ? `http://${server}/firmware/x.efi` : `${kind}.file`,
  });
}

function sent(...given: Parameters<typeof ask>) {
  const answer = ask(...given);
  if (answer.kind === "silent") throw new Error(answer.reason);
  return { ...answer, reply: readReply(answer.bytes) };
}

const discover = (client: keyof typeof CLIENTS): PacketParts => ({ options: [DISCOVER_TYPE, ...CLIENTS[client]] });

describe("a reply has the boot file and the vendor class for the kind of client:", () => {
  test.each(
    [
      ["bios", "bios.file", "PXEClient", [6, 1, 8, 255]],
      ["uefi", "uefi.file", "PXEClient", [6, 1, 8, 255]],
      ["uefi_http", "http://10.0.0.1/firmware/x.efi", "HTTPClient", undefined],
      ["ipxe", SCRIPT, "PXEClient", [6, 1, 8, 255]],
      ["ipxe_rfc3004", SCRIPT, "", undefined],
    ] as const,
  )("%s loads %s", (client, file, vendor_class, pxe) => {
    const { reply } = sent(discover(client));
    expect(reply.file).toBe(file);
    // The NUL stops old ROMs from reading past the end of the value.
    expect(textOf(reply.options.get(67))).toBe(`${file}\0`);
    expect(textOf(reply.options.get(60))).toBe(vendor_class);
    expect(reply.options.get(43)).toEqual(pxe === undefined ? undefined : Uint8Array.from(pxe));
    expect(reply.siaddr).toBe(number("10.0.0.1"));
  });

  test("class PXEClient and option 43 are sent together or not at all, for every client", () => {
    for (const client of ["bios", "uefi", "uefi_bc", "ipxe", "ipxe_rfc3004"] as const) {
      const { options } = sent(discover(client)).reply;
      expect(options.has(43)).toBe(options.has(60));
    }
  });

  test("a client that does not netboot gets only its address, if the configuration allows it", () => {
    expect(ask(discover("plain"))).toEqual({ kind: "silent", reason: "not_pxe" });
    const { reply } = sent(discover("plain"), { only_pxe: false });
    expect(reply).toMatchObject({ file: "", siaddr: 0, yiaddr: number("10.0.0.10") });
    for (const code of [43, 60, 66, 67]) expect(reply.options.has(code)).toBe(false);
  });
});

test("a reply contains the record's network and options that are copied from the packet; the relay's option is last", () => {
  const relayed = Uint8Array.of(1, 4, 9, 9, 9, 9);
  const identity = Uint8Array.of(1, 0x52, 0x54, 0, 0xaa, 0, 1);
  const { reply } = sent({
    xid: 0xdeadbeef,
    flags: 0x8000,
    options: [[82, relayed], DISCOVER_TYPE, ...CLIENTS.uefi, [61, identity]],
  });
  expect(reply).toMatchObject({ op: 2, xid: 0xdeadbeef, flags: 0x8000, yiaddr: number("10.0.0.10") });
  expect(Object.fromEntries([...reply.options].map(([code, value]) => [code, [...value]]))).toMatchObject({
    53: [2],
    54: [10, 0, 0, 1],
    1: [255, 255, 255, 0],
    3: [10, 0, 0, 254],
    6: [10, 0, 0, 2, 10, 0, 0, 3],
    61: [...identity],
    97: [...new Uint8Array(17)],
    82: [...relayed],
  });
  expect(reply.order.at(-1)).toBe(82);
});

test("a reply that is too large omits option 66, and is not sent if it is still too large", () => {
  const long = { options: [DISCOVER_TYPE, ...CLIENTS.uefi, [61, new Uint8Array(215)]] } as const;
  const { reply } = sent(long);
  expect(reply.options.get(61)).toHaveLength(215);
  expect([reply.options.has(66), sent(discover("uefi")).reply.options.has(66)]).toEqual([false, true]);
  const twice = { options: [...long.options, [82, new Uint8Array(255)]] } as const;
  expect(ask(twice)).toEqual({ kind: "silent", reason: "reply_too_large" });
});

describe("the destination of a reply", () => {
  test.each([[0], [0x8000]])(
    "a reply to a machine without an address is a broadcast if the packet's flags are %i",
    (flags) => {
      expect(sent({ flags, ...discover("ipxe") })).toMatchObject({
        address: "255.255.255.255",
        port: 68,
        server: "10.0.0.1",
      });
    },
  );

  test("the reply is sent from the socket of the segment that contains the machine's address", () => {
    const facts = { address: "10.9.0.7", networking: { ...factsOf().networking, address: "10.9.0.7" } };
    expect(sent(discover("ipxe"), { facts })).toMatchObject({ server: "10.9.0.1" });
  });

  test("no reply is broadcast to a machine whose address is in no segment", () => {
    const facts = { address: "10.5.0.7", networking: { ...factsOf().networking, address: "10.5.0.7" } };
    expect(ask(discover("ipxe"), { facts })).toEqual({ kind: "silent", reason: "no_segment" });
  });

  test("the reply to a renewal goes to the machine's own address", () => {
    const parts = { ciaddr: number("10.0.0.10"), options: [REQUEST_TYPE, ...CLIENTS.ipxe] };
    expect(sent(parts)).toMatchObject({ address: "10.0.0.10", port: 68 });
  });

  test("a relayed reply goes to the relay's address, port 67, with the broadcast flag unchanged", () => {
    const answer = sent({ giaddr: number("10.0.0.254"), flags: 0x8000, ...discover("bios") });
    expect(answer).toMatchObject({ address: "10.0.0.254", port: 67 });
    expect(answer.reply).toMatchObject({ giaddr: number("10.0.0.254"), flags: 0x8000 });
  });

  test("with the setting relay_reply = source, a relayed reply goes to the source address and port of the relay's packet", () => {
    const parts = { giaddr: number("10.0.0.254"), ...discover("bios") };
    expect(sent(parts, { rules: { relay_reply: "source" } })).toMatchObject({ address: "10.0.0.99", port: 4_011 });
  });

  test("a relay outside the machine's network gets a reply only if the relay is configured", () => {
    const parts = { giaddr: number("192.0.2.1"), ...discover("bios") };
    expect(ask(parts)).toEqual({ kind: "silent", reason: "relay_not_known" });
    const relays = [{ network: number("192.0.2.0"), prefix_len: 24 }];
    expect(sent(parts, { rules: { relays } })).toMatchObject({ address: "192.0.2.1", port: 67 });
  });
});

describe("a REQUEST", () => {
  const request = (...options: PacketParts["options"]): PacketParts => ({
    options: [REQUEST_TYPE, ...CLIENTS.ipxe, ...options],
  });

  test("for the record's address is acknowledged", () => {
    expect(sent(request([50, address("10.0.0.10")])).reply.options.get(53)).toEqual(Uint8Array.of(5));
    expect(sent(request([54, address("10.0.0.1")], [50, address("10.0.0.10")])).reply.yiaddr).toBe(number("10.0.0.10"));
  });

  test.each(
    [
      ["names another server", request([54, address("10.0.0.9")], [50, address("10.0.0.10")]), "other_server"],
      ["asks for another address", request([50, address("10.0.0.11")]), "other_address"],
      ["does not ask for an address", request(), "other_address"],
      ["has another address", { ...request(), ciaddr: 167_772_171 }, "other_address"],
      ["asks for the record's address but has another address", {
        ...request([50, address("10.0.0.10")]),
        ciaddr: number("44.0.0.1"),
      }, "other_address"],
      [
        "has a malformed server identifier",
        request([54, Uint8Array.of(1)], [50, address("10.0.0.10")]),
        "other_server",
      ],
    ] as const,
  )("that %s gets no answer, not even a NAK", (_name, parts, reason) => {
    expect(ask(parts)).toEqual({ kind: "silent", reason });
  });
});

test("only DISCOVER and REQUEST are answered", () => {
  for (const type of [2, 4, 5, 6, 7, 8]) {
    expect(ask({ options: [[53, Uint8Array.of(type)], ...CLIENTS.ipxe] })).toEqual({
      kind: "silent",
      reason: "not_for_servers",
    });
  }
});

test("a URL of more than 127 characters is sent in option 67 and not in the `file` field", () => {
  const packet = readPacket(clientPacket(discover("ipxe")));
  if (typeof packet === "string") throw new Error(packet);
  const long = `http://10.0.0.1/${"x".repeat(150)}`;
  const answer = answerDhcp({
    asked: "dhcp",
    packet,
    client: readClient(packet)!,
    source: { address: "0.0.0.0", port: 68 },
    record: bootFacts(factsOf()),
    verified: true,
    policy: POLICY,
    rules: RULES,
    bootFile: () => long,
  });
  const reply = readReply(answer.kind === "send" ? answer.bytes : new Uint8Array());
  expect([reply.file, textOf(reply.options.get(67))]).toEqual(["", `${long}\0`]);
});
