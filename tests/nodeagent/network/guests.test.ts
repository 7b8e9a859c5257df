// Tests the answers of DHCP, DNS and the metadata service without sockets, including answers to packets that no
// well-behaved client sends.
import { expect, test } from "vitest";
import { dhcp6Reply } from "../../../nodeagent/network/guests/dhcp6.ts";
import { dhcpReply } from "../../../nodeagent/network/guests/dhcp.ts";
import { localAnswer, questionOf } from "../../../nodeagent/network/guests/dns.ts";
import { metadataAnswer, type MetadataRequest } from "../../../nodeagent/network/guests/metadata.ts";
import { routerAdvertisement } from "../../../nodeagent/network/guests/router-advert.ts";
import { guestPlan } from "../../../nodeagent/network/guests/guest-plan.ts";
import { documentOf, machine } from "../../networks/documents.ts";
import { stream } from "../../simulator/chance.ts";

const a1 = machine("a1", "n1", { net: 1, host: 5, vpc: "a" });
const PLAN = guestPlan(
  documentOf({ vni: 4_096, machines: [a1], rules: [], edge: null, routes: [] }, "n1"),
  "berth-4096",
);

/** A DHCP request of a1 with these options. */
function request(options: readonly number[]): Uint8Array {
  const packet = new Uint8Array(240 + options.length);
  packet[0] = 1;
  packet.set(a1.mac.split(":").map((part) => parseInt(part, 16)), 28);
  packet.set([99, 130, 83, 99], 236);
  packet.set(options, 240);
  return packet;
}
const typeOf = (options: readonly number[]) => dhcpReply(request(options), PLAN)?.packet[242];

test.each([
  ["a discover is offered the NIC's address", [53, 1, 1, 255], 2],
  ["a request without an address is acknowledged", [53, 1, 3, 255], 5],
  ["a request for the NIC's address is acknowledged", [53, 1, 3, 50, 4, 10, 0, 1, 5, 255], 5],
  ["a request for another address is refused", [53, 1, 3, 50, 4, 10, 0, 1, 6, 255], 6],
  ["a release needs no answer", [53, 1, 7, 255], undefined],
  ["a packet without options needs no answer", [], undefined],
  ["an option that is longer than the packet is harmless", [53, 1, 1, 12, 200, 1], 2],
])("DHCP: %s", (_, options, type) => {
  expect(typeOf(options)).toBe(type);
});

test("DHCP: the answer to an inform message has the options, but neither a lease time nor an address", () => {
  const [lease, inform] = [3, 8].map((type) => dhcpReply(request([53, 1, type, 255]), PLAN)!);
  const optionsOf = (packet: Uint8Array) => {
    const codes: number[] = [];
    for (let at = 240; packet[at] !== 255; at += 2 + packet[at + 1]!) codes.push(packet[at]!);
    return codes;
  };
  expect([...lease!.packet.slice(16, 20)]).toEqual([10, 0, 1, 5]);
  expect([...inform!.packet.slice(16, 20)]).toEqual([0, 0, 0, 0]);
  expect(optionsOf(lease!.packet)).toContain(51);
  expect(optionsOf(inform!.packet)).toEqual(optionsOf(lease!.packet).filter((code) => code !== 51));
});

const CLIENT_ID = [0, 1, 0, 4, 0, 3, 0, 1];
const SERVER_ID = [0, 2, 0, 10, 0, 3, 0, 1, 2, 0xbe, 0, 0, 0, 1];
const OTHER_SERVER_ID = [...SERVER_ID.slice(0, -1), 2];
const ADDRESS_REQUEST = [0, 3, 0, 12, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0];
/** The NIC's own address, fd00:a:1::5. */
const OWN_ADDRESS = [0xfd, 0, 0, 0xa, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5];
/** An address request that lists the NIC's own address. */
const OWN_REQUEST = [0, 3, 0, 40, ...ADDRESS_REQUEST.slice(4), 0, 5, 0, 24, ...OWN_ADDRESS, 0, 0, 0, 0, 0, 0, 0, 0];
const answer6 = (type: number, ...options: readonly (readonly number[])[]) =>
  dhcp6Reply(Uint8Array.from([type, 1, 2, 3, ...options.flat()]), { ipv6: a1.ipv6, search: null, ntp_servers: [] });

test.each([
  ["a solicit gets an advertise", 1, [CLIENT_ID, ADDRESS_REQUEST], 2],
  ["a solicit that wants the lease at once gets it", 1, [CLIENT_ID, [0, 14, 0, 0], ADDRESS_REQUEST], 7],
  ["a request for this server is answered", 3, [CLIENT_ID, SERVER_ID, ADDRESS_REQUEST], 7],
  ["a request for another server is not answered", 3, [CLIENT_ID, OTHER_SERVER_ID, ADDRESS_REQUEST], undefined],
  ["a request without a server is not answered", 3, [CLIENT_ID, ADDRESS_REQUEST], undefined],
  ["a rebind is answered", 6, [CLIENT_ID, ADDRESS_REQUEST], 7],
  ["a release is confirmed", 8, [CLIENT_ID, SERVER_ID], 7],
  ["an information request needs no client id", 11, [], 7],
  ["every other request needs a client id", 1, [ADDRESS_REQUEST], undefined],
  ["a reply is not answered", 7, [CLIENT_ID, SERVER_ID], undefined],
])("DHCPv6: %s", (_, type, options, reply) => {
  expect(answer6(type, ...options)?.[0]).toBe(reply);
});

test("a guest learns only the time servers of its own address family", () => {
  const ntp_servers = ["192.0.2.1", "2001:db8::1", "192.0.2.2"];
  const plan = { ...PLAN, guests: PLAN.guests.map((guest) => ({ ...guest, ntp_servers })) };
  const ipv4 = [...dhcpReply(request([53, 1, 1, 255]), plan)!.packet].join(" ");
  expect(ipv4).toContain([42, 8, 192, 0, 2, 1, 192, 0, 2, 2].join(" "));
  const asked = Uint8Array.from([11, 1, 2, 3]);
  const ipv6 = [...dhcp6Reply(asked, { ipv6: a1.ipv6, search: null, ntp_servers })!].join(" ");
  const server = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  expect(ipv6).toContain([0, 56, 0, 20, 0, 1, 0, 16, ...server].join(" "));
  expect([...dhcp6Reply(asked, { ipv6: a1.ipv6, search: null, ntp_servers: [] })!].join(" ")).not.toContain("0 56 0");
});

test("DHCPv6: a confirm message for the guest's own address gets the status success", () => {
  expect([...answer6(4, CLIENT_ID, OWN_REQUEST)!.slice(-2)], "the status").toEqual([0, 0]);
});

test("DHCPv6: the second address request in a message gets no address; a guest without an IPv6 address gets no answer", () => {
  const twice = [...answer6(1, CLIENT_ID, ADDRESS_REQUEST, ADDRESS_REQUEST)!];
  const no_address = [0, 13, 0, 2, 0, 2];
  expect(twice.join(" ")).toContain(no_address.join(" "));
  expect(dhcp6Reply(Uint8Array.from([11, 1, 2, 3]), { ipv6: null, search: null, ntp_servers: [] })).toBeNull();
});

test("a router advertisement has the DHCPv6 flags, the route's lifetime, the MTU and the DNS server, and no prefix", () => {
  const packet = [...routerAdvertisement(1_450)];
  expect(packet.slice(0, 8)).toEqual([134, 0, 0, 0, 64, 0xc0, 255, 255]);
  const options: Record<number, readonly number[]> = {};
  for (let at = 16; at < packet.length; at += packet[at + 1]! * 8) options[packet[at]!] = packet.slice(at);
  expect(Object.keys(options)).toEqual(["1", "5", "25"]);
  expect(options[5]!.slice(0, 8)).toEqual([5, 1, 0, 0, 0, 0, 1_450 >> 8, 1_450 & 255]);
});

test("DNS: a reverse name of another network, and a part of a reverse name, are left to the resolver", () => {
  const answerTo = (...labels: readonly string[]) => {
    const message = query(...labels);
    return localAnswer(message, questionOf(message)!, PLAN);
  };
  expect(answerTo("5", "1", "0", "10", "in-addr", "arpa")![3]! & 15).toBe(0);
  expect(answerTo("77", "1", "0", "10", "in-addr", "arpa")![3]! & 15).toBe(3);
  expect(answerTo("8", "8", "8", "8", "in-addr", "arpa")).toBeNull();
  expect(answerTo("0", "10", "in-addr", "arpa")).toBeNull();
  expect(answerTo("1", "0", "ip6", "arpa")).toBeNull();
});

test("DHCP and DNS survive 20,000 packets of random bytes", () => {
  const next = stream(18);
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: Math.floor(next() * 300) }, () => Math.floor(next() * 256));
    dhcpReply(bytes, PLAN);
    dhcp6Reply(bytes, PLAN.guests[0]!);
    const question = questionOf(bytes);
    if (question !== null) localAnswer(bytes, question, PLAN);
  }
});

/** A query for a name with the given labels. */
function query(...labels: readonly string[]): Uint8Array {
  const name = labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  return Uint8Array.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 1, 0, 1]);
}

test("DNS: the node answers names of the VPC and of the zone `internal`, and no other names", () => {
  const answerTo = (...labels: readonly string[]) => {
    const message = query(...labels);
    return localAnswer(message, questionOf(message)!, PLAN);
  };
  expect([...answerTo("A1", "p1", "internal")!.slice(-4)]).toEqual([10, 0, 1, 5]);
  expect(answerTo("a9", "p1", "internal")![3]! & 15).toBe(3);
  expect(answerTo("internal")![3]! & 15).toBe(3);
  expect(answerTo("a1", "p1", "internal", "example")).toBeNull();
});

test("DNS: a message is not answered unless it is a query with one question", () => {
  const good = query("a1", "p1", "internal");
  const changed = (at: number, value: number) => Uint8Array.from(good, (byte, index) => index === at ? value : byte);
  expect(questionOf(good)).toMatchObject({ name: "a1.p1.internal", type: 1 });
  expect(questionOf(changed(2, 0x81)), "an answer").toBeNull();
  expect(questionOf(changed(5, 2)), "two questions").toBeNull();
  expect(questionOf(changed(12, 0xc0)), "a pointer").toBeNull();
  expect(questionOf(good.slice(0, -1)), "cut off").toBeNull();
});

const OPTIONS = {
  guests: PLAN.guests,
  filesOf: () => Promise.resolve({ "user-data": "secret" }),
  key: new Uint8Array(32),
  now_ms: 1_000_000,
};
const TTL = "x-aws-ec2-metadata-token-ttl-seconds";
const ask = (
  fields: Partial<Omit<MetadataRequest, "header">>,
  headers: Record<string, string> = {},
  now_ms = 1_000_000,
) =>
  metadataAnswer({
    ...{ method: "GET", path: "/latest/user-data", from: "10.0.1.5", ...fields },
    header: (name) => headers[name] ?? null,
  }, { ...OPTIONS, now_ms });
const tokenFor = async (ttl: string) => await ask({ method: "PUT", path: "/latest/api/token" }, { [TTL]: ttl });

test("metadata: a token expires after the number of seconds in the request for the token", async () => {
  const { body } = await tokenFor("60");
  const token = { "x-aws-ec2-metadata-token": body };
  expect((await ask({}, token, 1_059_999)).status).toBe(200);
  expect((await ask({}, token, 1_060_000)).status).toBe(401);
});

test.each(["0", "21601", "1.5", "", "sixty"])("metadata: a token for '%s' seconds is refused", async (ttl) => {
  expect((await tokenFor(ttl)).status).toBe(400);
});

test("metadata: a request from an unknown address gets 404", async () => {
  expect(await ask({ from: "10.0.1.9" })).toEqual({ status: 404, body: "not found\n" });
});

test.each(["constructor", "toString", "absent"])("metadata: no value has the name %s", async (name) => {
  const token = { "x-aws-ec2-metadata-token": (await tokenFor("60")).body };
  expect(await ask({ path: "/latest/meta-data/hostname" }, token)).toEqual({ status: 200, body: "a1" });
  expect(await ask({ path: `/latest/meta-data/${name}` }, token)).toEqual({ status: 404, body: "not found\n" });
});
