// Moves floating IPs and port forwards between two machines of one node while a client keeps sending from one port.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DocumentPortForward, NetworkDocument } from "../../src/contract/network-document.ts";
import type { KernelNetwork } from "../../nodeagent/network/kernel.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, EXTERNAL_GATEWAY, INTERNET_HOST, machine, NAT, rule, type TestVpc } from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3");

const FLOATING = { ipv4: "203.0.113.7", ipv6: "2001:db8::7" } as const;
const NICS = [
  machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
  machine("a2", "n1", { net: 1, host: 6, vpc: "a" }),
] as const;
const BASE: TestVpc = {
  vni: 4_096,
  machines: NICS,
  rules: [rule({ direction: "inbound", action: "allow", protocol: "udp" })],
  edge: "n1",
  routes: [],
};
const PORT = 7_000;

describe.skipIf(missing !== null)("an open flow", () => {
  let site: NetworkSite;
  let driver: KernelNetwork;
  let generation = 1;

  beforeAll(async () => {
    site = await openNetworkSite();
    driver = site.driver("n1");
    await driver.apply(documentOf(BASE, "n1"));
    for (const nic of NICS) await site.plug("n1", documentOf(BASE, "n1"), nic);
    await driver.apply(documentOf(BASE, "n1"));
    for (const { nic_id } of NICS) await site.startServer(`vm-${nic_id}`, UDP_SERVER, [String(PORT), nic_id]);
    await site.startServer("inet", UDP_SERVER, [String(PORT), "internet"]);
  });
  afterAll(() => site?.close());
  beforeEach(async () => {
    await change(documentOf(BASE, "n1"));
    await site.run(["ip", "netns", "exec", "n1-4096", "conntrack", "-F"]);
  });

  const change = (document: NetworkDocument) =>
    driver.apply({ ...document, generation: ++generation }, new Map(), { trusts_last: true });
  /** Sends one datagram from a fixed port. Returns the server's name, and the sender's address as the server saw it. */
  const asks = async (where: string, source: string, to: string, port = PORT) =>
    (await site.attempt(["ip", "netns", "exec", where, "python3", "-c", UDP_CLIENT, source, to, String(port)])).out
      .trim();

  const floatingAt = (name: string | null) =>
    documentOf({
      ...BASE,
      machines: NICS.map((nic) => nic.nic_id === name ? { ...nic, floating_ips: Object.values(FLOATING) } : nic),
    }, "n1");
  const fromOutside = async () => [
    await asks("inet", INTERNET_HOST.ipv4, FLOATING.ipv4),
    await asks("inet", EXTERNAL_GATEWAY.ipv6, FLOATING.ipv6),
  ];
  const fromMachine = async (name: string, nic: (typeof NICS)[number]) => [
    await asks(`vm-${name}`, nic.ipv4!, EXTERNAL_GATEWAY.ipv4),
    await asks(`vm-${name}`, nic.ipv6!, EXTERNAL_GATEWAY.ipv6),
  ];

  test.each([["in one change", []], ["by way of a detachment", [null]]])(
    "follows a floating IP that moves between two machines of a node %s, in both families",
    async (_, between) => {
      const from = [INTERNET_HOST.ipv4, EXTERNAL_GATEWAY.ipv6];
      const answersOf = (name: string) => from.map((address) => `${name} ${address}`);
      const leavesWith = ({ ipv4, ipv6 }: { ipv4: string; ipv6: string }) => [`internet ${ipv4}`, `internet ${ipv6}`];
      await change(floatingAt("a1"));
      expect(await fromOutside()).toEqual(answersOf("a1"));
      expect(await fromMachine("a1", NICS[0])).toEqual(leavesWith(FLOATING));
      for (const name of [...between, "a2"]) await change(floatingAt(name));
      expect(await fromOutside()).toEqual(answersOf("a2"));
      expect(await fromMachine("a1", NICS[0]), "its open flows leave by the gateway").toEqual(leavesWith(NAT));
    },
  );

  test("follows a changed port forward, and the flow of another forward to the same machine is kept", async () => {
    const to = (nic: (typeof NICS)[number], public_port: number): DocumentPortForward => ({
      ...{ protocol: "udp", public_port, address: nic.ipv4!, port: PORT },
    });
    const forwarding = (...port_forwards: DocumentPortForward[]): NetworkDocument => {
      const document = documentOf(BASE, "n1");
      const nat_gateways = document.nat_gateways.map((gateway) =>
        gateway.public_address === NAT.ipv4 ? { ...gateway, port_forwards } : gateway
      );
      return { ...document, nat_gateways };
    };
    // Sends the datagrams one after the other. If two flows between the same ends begin at the same time, the kernel
    // can drop the first packet of one flow.
    const asksForwards = async () => [
      await asks("inet", INTERNET_HOST.ipv4, NAT.ipv4, 8_001),
      await asks("inet", INTERNET_HOST.ipv4, NAT.ipv4, 8_002),
    ];
    const idOf = async (port: number) =>
      (await site.run(["ip", "netns", "exec", "n1-4096", "conntrack", "-L", "-o", "id"]))
        .match(new RegExp(`dport=${port} .* id=(\\d+)`))?.[1];
    await change(forwarding(to(NICS[0], 8_001), to(NICS[0], 8_002)));
    expect(await asksForwards()).toEqual([`a1 ${INTERNET_HOST.ipv4}`, `a1 ${INTERNET_HOST.ipv4}`]);
    const kept = await idOf(8_002);
    await change(forwarding(to(NICS[1], 8_001), to(NICS[0], 8_002)));
    expect(await idOf(8_001), "the flow of the changed forward").toBeUndefined();
    expect([kept !== undefined, await idOf(8_002)], "the other flow").toEqual([true, kept]);
    expect(await asksForwards()).toEqual([`a2 ${INTERNET_HOST.ipv4}`, `a1 ${INTERNET_HOST.ipv4}`]);
    await change(forwarding(to(NICS[0], 8_002)));
    expect(await asksForwards(), "the first forward is gone").toEqual(["", `a1 ${INTERNET_HOST.ipv4}`]);
  });
});

/** Answers each datagram with a name and the sender's address. */
const UDP_SERVER = `
import socket, sys
server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
server.bind(("::", int(sys.argv[1])))
print("ready")
while True:
    _, peer = server.recvfrom(64)
    try:
        server.sendto((sys.argv[2] + " " + peer[0].removeprefix("::ffff:")).encode(), peer)
    except OSError:
        pass
`;

/** Sends a datagram from port 5000 and prints the answer. Prints nothing without an answer. */
const UDP_CLIENT = `
import socket, sys
source, to, port = sys.argv[1:]
client = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
client.bind((source, 5000))
client.connect((to, int(port)))
client.settimeout(2)
try:
    client.send(b"x")
    print(client.recv(64).decode())
except OSError:
    pass
`;
