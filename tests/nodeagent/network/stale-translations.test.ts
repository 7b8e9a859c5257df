// Tests which open connections the router deletes after a change of floating IPs and port forwards.
import { expect, test } from "vitest";
import { parseConnections } from "../../../nodeagent/network/connections.ts";
import { staleTranslations } from "../../../nodeagent/network/stale-translations.ts";
import type { DocumentPortForward, NetworkDocument } from "../../../src/contract/network-document.ts";
import { documentOf, machine, NAT } from "../../networks/documents.ts";

const [F4, F6, CLIENT] = ["203.0.113.7", "2001:db8::7", "198.51.100.10"];
const [WEB1, WEB2] = ["10.0.1.5", "10.0.1.6"];

/** A line of conntrack: a connection from outside to a public address and port of a NIC. */
const inbound = (to: string, port: number, nic: string, nic_port: number, protocol = "udp      17") =>
  `${protocol} 29 src=${CLIENT} dst=${to} sport=5000 dport=${port} src=${nic} dst=${CLIENT} sport=${nic_port} ` +
  "dport=5000 [ASSURED] mark=0 use=1 id=1";
const outbound = (nic: string, from: string) =>
  `udp      17 29 src=${nic} dst=${CLIENT} sport=53000 dport=53 src=${CLIENT} dst=${from} sport=53 dport=53000 mark=0 ` +
  "use=1 id=2";

const WITHIN =
  `udp      17 29 src=${WEB1} dst=${WEB2} sport=53000 dport=53 [UNREPLIED] src=${WEB2} dst=${WEB1} sport=53 ` +
  "dport=53000 mark=0 use=1 id=3";
const PING =
  `icmpv6   58 29 src=2001:db8::99 dst=${F6} type=128 code=0 id=7 src=fd00:a:1::5 dst=2001:db8::99 type=129 ` +
  "code=0 id=7 mark=0 use=1 id=4";

/** The document of the node n1, which has the NICs of web1 and web2 and the NAT gateways. */
function document(
  floating: { web1?: string[]; web2?: string[] },
  forwards: DocumentPortForward[] = [],
): NetworkDocument {
  const machines = [
    { ...machine("web1", "n1", { net: 1, host: 5, vpc: "a" }), floating_ips: floating.web1 ?? [] },
    { ...machine("web2", "n1", { net: 1, host: 6, vpc: "a" }), floating_ips: floating.web2 ?? [] },
  ];
  const plain = documentOf({ vni: 4_096, machines, rules: [], edge: "n1", routes: [] }, "n1");
  const nat_gateways = plain.nat_gateways.map((gateway) =>
    gateway.public_address === NAT.ipv4 ? { ...gateway, port_forwards: forwards } : gateway
  );
  return { ...plain, nat_gateways };
}
const stale = (of: NetworkDocument, ...lines: readonly string[]) =>
  staleTranslations(of, parseConnections(lines.join("\n")));

const OF_FLOATING = [inbound(F4, 53, WEB1, 53), inbound(F4, 22, WEB1, 22, "tcp      6"), outbound(WEB1, F4), PING];

test("connections of a floating IP are kept while the same NIC has the floating IP", () => {
  expect(stale(document({ web1: [F4, F6] }), ...OF_FLOATING, WITHIN)).toEqual([]);
});

test("after a floating IP moved to another NIC, one command deletes the connections of each old translation", () => {
  expect(stale(document({ web2: [F4, F6] }), ...OF_FLOATING, WITHIN)).toEqual([
    `-D -f ipv4 -d ${F4} -r ${WEB1}`,
    `-D -f ipv4 -s ${WEB1} -q ${F4}`,
    `-D -f ipv6 -d ${F6} -r fd00:a:1::5`,
  ]);
});

test("the connections of a floating IP are deleted when no NIC of the node has this floating IP", () => {
  expect(stale(document({}), ...OF_FLOATING, WITHIN)).toEqual([
    `-D -f ipv4 -d ${F4} -g`,
    `-D -f ipv4 -q ${F4}`,
    `-D -f ipv6 -d ${F6} -g`,
  ]);
});

const to = (address: string, public_port: number, port: number): DocumentPortForward => ({
  ...{ protocol: "udp", public_port, address, port },
});
const OF_FORWARD = [inbound(NAT.ipv4, 8_053, WEB1, 53), outbound(WEB1, NAT.ipv4)];

test.each<[string, DocumentPortForward[], string[]]>([
  ["is the same", [to(WEB1, 8_053, 53)], []],
  ["has another NIC", [to(WEB2, 8_053, 53)], [`-D -f ipv4 -d ${NAT.ipv4} -r ${WEB1}`]],
  ["is gone", [], [`-D -f ipv4 -d ${NAT.ipv4} -r ${WEB1}`]],
  [
    "has another port of the NIC",
    [to(WEB1, 8_053, 54)],
    [`-D -f ipv4 -d ${NAT.ipv4} -r ${WEB1} -p udp --dport 8053 --reply-port-src 53`],
  ],
  [
    "is gone, and another port is forwarded to the NIC",
    [to(WEB1, 8_054, 53)],
    [`-D -f ipv4 -d ${NAT.ipv4} -r ${WEB1} -p udp --dport 8053 --reply-port-src 53`],
  ],
])("a port forward that %s deletes only its own connections", (_, forwards, lines) => {
  expect(stale(document({}, forwards), ...OF_FORWARD)).toEqual(lines);
});

test("after a NAT gateway has left the node, two commands delete the gateway's connections of all NICs", () => {
  const left = { ...document({}), nat_gateways: [] };
  const forwarded = [WEB1, WEB2].map((nic) => inbound(NAT.ipv4, 8_053, nic, 53));
  const begun = [WEB1, WEB2].map((nic) => outbound(nic, NAT.ipv4));
  expect(stale(left, ...forwarded, ...begun)).toEqual([`-D -f ipv4 -d ${NAT.ipv4} -g`, `-D -f ipv4 -q ${NAT.ipv4}`]);
});
