// The DHCP codec reads well-formed packets completely and refuses malformed packets.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClient } from "../../booter/dhcp/client.ts";
import { type DhcpPacket, OPTIONS_AT, readPacket, writeReply } from "../../booter/dhcp/packet.ts";
import { seeded } from "./seeded.ts";
import { clientPacket, CLIENTS, DISCOVER_TYPE, readReply } from "./packets.ts";

const parsed = (bytes: Uint8Array): DhcpPacket => {
  const packet = readPacket(bytes);
  if (typeof packet === "string") throw new Error(packet);
  return packet;
};

describe("a packet is refused when", () => {
  const options = [DISCOVER_TYPE];
  test.each(
    [
      ["its op is the op of a reply", { op: 2, options }, "not_a_request"],
      ["its hardware type is not Ethernet", { htype: 6, options }, "not_ethernet"],
      ["its hardware address length is 0", { hlen: 0, options }, "not_ethernet"],
      ["its hardware address length is 255", { hlen: 255, options }, "not_ethernet"],
      ["the cookie is wrong", { cookie: 0x63825362, options }, "bad_cookie"],
      ["it has no message type", { options: CLIENTS.bios }, "bad_message_type"],
      ["its message type has two bytes", { options: [[53, Uint8Array.of(1, 1)]] }, "bad_message_type"],
      ["its message type is unknown", { options: [[53, Uint8Array.of(9)]] }, "bad_message_type"],
      ["its MAC is a multicast address", { mac: "01:00:5e:00:00:01", options }, "bad_mac"],
      ["its MAC is all zeros", { mac: "00:00:00:00:00:00", options }, "bad_mac"],
    ] as const,
  )("%s", (_name, parts, fault) => {
    expect(readPacket(clientPacket(parts))).toBe(fault);
  });

  test("it is too short for its message type, or cut inside an option", () => {
    const whole = clientPacket({ options: [DISCOVER_TYPE, ...CLIENTS.ipxe] });
    for (let length = 0; length < OPTIONS_AT + 3; length++) {
      expect(readPacket(whole.subarray(0, length))).toBe("too_short");
    }
    const cut = whole.subarray(0, OPTIONS_AT + 3 + 4);
    expect(readPacket(cut)).toBe("bad_option");
  });
});

test("an option that is split in the packet is read as one value (RFC 3396)", () => {
  const packet = parsed(clientPacket({
    options: [DISCOVER_TYPE, [60, new TextEncoder().encode("PXE")], [60, new TextEncoder().encode("Client")]],
  }));
  expect(readClient(packet)?.class).toBe("PXEClient");
});

describe("the kind of client", () => {
  test.each(
    [
      ["bios", "bios"],
      ["uefi", "uefi"],
      ["uefi_bc", "uefi"],
      ["uefi_http", "uefi_http"],
      ["ipxe", "ipxe"],
      ["ipxe_rfc3004", "ipxe"],
      ["arm64", "uefi"],
      ["plain", "plain"],
    ] as const,
  )("of the packet %s is %s", (name, kind) => {
    expect(readClient(parsed(clientPacket({ options: [DISCOVER_TYPE, ...CLIENTS[name]] })))?.kind).toBe(kind);
  });

  test.each(
    [
      [7, "PXEClient", "uefi", "x86_64"],
      [11, "PXEClient", "uefi", "arm64"],
      [16, "HTTPClient", "uefi_http", "x86_64"],
      [19, "HTTPClient", "uefi_http", "arm64"],
      // 6 is UEFI for 32-bit x86; 27 is UEFI for RISC-V.
      [6, "PXEClient", "foreign", "x86_64"],
      [27, "PXEClient", "foreign", "x86_64"],
    ] as const,
  )("with the architecture %i and the class %s is %s for %s", (arch, vendor_class, kind, architecture) => {
    const options = [DISCOVER_TYPE, [60, new TextEncoder().encode(vendor_class)], [
      93,
      Uint8Array.of(0, arch),
    ]] as const;
    expect(readClient(parsed(clientPacket({ options })))).toMatchObject({ kind, architecture });
  });

  test.each([[new Uint8Array(16)], [Uint8Array.of(1, ...new Uint8Array(16))], [new Uint8Array(0)]])(
    "is not determined if the identity in option 97 is malformed: %j",
    (guid) => {
      expect(readClient(parsed(clientPacket({ options: [DISCOVER_TYPE, [97, guid]] })))).toBeNull();
    },
  );

  test("is determined if the identity consists of zeros, because firmware without an identity sends zeros", () => {
    expect(readClient(parsed(clientPacket({ options: [DISCOVER_TYPE, ...CLIENTS.uefi] })))?.guid).toBe("0".repeat(32));
  });
});

test("a written reply is read back unchanged, even with options of more than 255 bytes, which are split", () => {
  const option = fc.tuple(fc.integer({ min: 1, max: 254 }), fc.uint8Array({ maxLength: 600 }));
  fc.assert(fc.property(
    fc.uniqueArray(option, { selector: ([code]) => code, maxLength: 12 }),
    fc.integer({ min: 0, max: 0xffffffff }),
    fc.stringMatching(/^[a-z./:]{0,127}$/),
    (options, xid, file) => {
      const bytes = writeReply({
        xid,
        flags: 0x8000,
        ciaddr: 0,
        yiaddr: 1,
        siaddr: 2,
        giaddr: 3,
        mac: "52:54:00:aa:00:01",
        file,
        options,
      });
      expect(bytes.length).toBeGreaterThanOrEqual(300);
      const reply = readReply(bytes);
      expect(reply).toMatchObject({ op: 2, xid, flags: 0x8000, yiaddr: 1, siaddr: 2, giaddr: 3, file });
      expect([...reply.options].map(([code, value]) => [code, [...value]])).toEqual(
        options.map(([code, value]) => [code, [...value]]),
      );
    },
  ));
});

test("reading 100,000 mutated packets throws nothing, and every accepted packet has a canonical MAC address", () => {
  const corpus = Object.values(CLIENTS).map((client) => clientPacket({ options: [DISCOVER_TYPE, ...client] }));
  const random = seeded(7);
  let taken = 0;
  for (let round = 0; round < 100_000; round++) {
    const bytes = Uint8Array.from(corpus[round % corpus.length]!);
    // Changes three bytes, mostly in the options, and cuts one packet in five.
    for (let change = 0; change < 3; change++) {
      const from = random() < 0.8 ? OPTIONS_AT : 0;
      bytes[from + Math.floor(random() * (bytes.length - from))] = Math.floor(random() * 256);
    }
    const cut = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
    const packet = readPacket(bytes.subarray(0, cut));
    if (typeof packet === "string") continue;
    taken += 1;
    expect(packet.mac).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
    readClient(packet);
  }
  // The test proves something only if enough mutated packets are accepted.
  expect(taken).toBeGreaterThan(1_000);
});
