// A booter can be a proxy on a network with another DHCP server. Then its replies contain only the boot file and no
// address.
import { expect, test } from "vitest";
import { answerDhcp, type DhcpAsked } from "../../booter/dhcp/answer.ts";
import { readClient } from "../../booter/dhcp/client.ts";
import { readPacket } from "../../booter/dhcp/packet.ts";
import { bootFacts } from "../../booter/api-client/wire.ts";
import { ipv4Number } from "../../booter/ipv4.ts";
import { factsOf } from "./facts.ts";
import { clientPacket, CLIENTS, DISCOVER_TYPE, type PacketParts, readReply, REQUEST_TYPE, textOf } from "./packets.ts";

const SERVER = ipv4Number("10.0.0.1")!;
const SOURCE = { address: "10.0.0.150", port: 4_011 };

function ask(parts: PacketParts, asked: DhcpAsked, state = "enrolling") {
  const packet = readPacket(clientPacket(parts));
  if (typeof packet === "string") throw new Error(packet);
  return answerDhcp({
    asked,
    packet,
    client: readClient(packet)!,
    source: SOURCE,
    record: bootFacts(factsOf({ state })),
    verified: true,
    policy: {
      answer_only_pxe: false,
      enrollment_pi: "image",
      staged: new Set(["image"]),
      arm64_images: new Set<string>(),
      has_arm64: false,
    },
    rules: { segments: [{ address: "10.0.0.1", prefix_len: 24 }], relays: [], relay_reply: "giaddr", is_proxy: true },
    bootFile: (kind) => `${kind}.file`,
  });
}

function replyTo(...given: Parameters<typeof ask>) {
  const answer = ask(...given);
  if (answer.kind === "silent") throw new Error(answer.reason);
  return { ...answer, reply: readReply(answer.bytes) };
}

const discover = (client: keyof typeof CLIENTS): PacketParts => ({ options: [DISCOVER_TYPE, ...CLIENTS[client]] });
const request = (client: keyof typeof CLIENTS): PacketParts => ({
  ciaddr: ipv4Number(SOURCE.address)!,
  options: [REQUEST_TYPE, ...CLIENTS[client]],
});

test.each(
  [["bios", "bios.file"], ["uefi", "uefi.file"], ["uefi_http", "uefi_http.file"], ["ipxe", ""]] as const,
)("an offer to %s has the file %j, and no address, lease or network", (client, file) => {
  const { reply, address, port } = replyTo(discover(client), "dhcp");
  expect([reply.yiaddr, reply.siaddr, reply.file]).toEqual([0, SERVER, file]);
  expect([1, 3, 6, 51].filter((code) => reply.options.has(code))).toEqual([]);
  expect(textOf(reply.options.get(60))).toBe(client === "uefi_http" ? "HTTPClient" : "PXEClient");
  expect([address, port]).toEqual(["255.255.255.255", 68]);
});

test.each(["bios", "uefi", "ipxe"] as const)(
  "a request of %s at port 4011 gets the file, sent to the request's source address",
  (client) => {
    const { reply, address, port } = replyTo(request(client), "proxy");
    expect([reply.yiaddr, reply.file, textOf(reply.options.get(67))]).toEqual([
      0,
      `${client}.file`,
      `${client}.file\0`,
    ]);
    expect({ address, port }).toEqual(SOURCE);
  },
);

test("a request to the other server, a DISCOVER at port 4011, and a request of a machine that may not boot get no reply", () => {
  expect(ask(request("ipxe"), "dhcp")).toEqual({ kind: "silent", reason: "other_server" });
  expect(ask(discover("ipxe"), "proxy")).toEqual({ kind: "silent", reason: "no_proxy" });
  expect(ask(request("ipxe"), "proxy", "decommissioned")).toEqual({ kind: "silent", reason: "decommissioned" });
});

test("a client that does not netboot gets no reply, even with answer_only_pxe = false", () => {
  expect(ask({ options: [DISCOVER_TYPE] }, "dhcp")).toEqual({ kind: "silent", reason: "no_proxy" });
});
