// Tests which open connections the router drops after a change of the firewall.
import { expect, test } from "vitest";
import { forbiddenIds, forbiddenTable, parseConnections } from "../../../nodeagent/network/connections.ts";
import type { DocumentRule } from "../../../src/contract/network-document.ts";
import { documentOf, machine, rule } from "../../networks/documents.ts";

const [FLOATING, DNS, PING] = [4_068_479_874, 2, 3];
/** Lines as conntrack 1.4.7 prints them. The first connection came in through a floating IP. */
const LISTING = [
  "tcp      6 431999 ESTABLISHED src=198.51.100.10 dst=203.0.113.7 sport=5000 dport=22 src=10.0.1.5 dst=198.51.100.10 " +
  `sport=22 dport=5000 [ASSURED] mark=0 use=1 id=${FLOATING}`,
  "udp      17 29 src=10.0.1.5 dst=10.0.2.5 sport=53000 dport=53 [UNREPLIED] src=10.0.2.5 dst=10.0.1.5 sport=53 " +
  `dport=53000 mark=0 use=1 id=${DNS}`,
  "icmpv6   58 29 src=fd00:a:1::6 dst=fd00:a:1::5 type=128 code=0 id=7 src=fd00:a:1::5 dst=fd00:a:1::6 type=129 code=0 " +
  `id=7 mark=0 use=1 id=${PING}`,
  "gre      47 29 src=10.0.1.5 dst=10.0.2.5 src=10.0.2.5 dst=10.0.1.5 mark=0 use=1 id=4",
].join("\n");

const forbidden = (...rules: readonly DocumentRule[]) =>
  forbiddenIds(
    documentOf({
      vni: 4_096,
      machines: [machine("a1", "n1", { net: 1, host: 5, vpc: "a" })],
      rules,
      edge: null,
      routes: [],
    }, "n1"),
    parseConnections(LISTING),
  );

const SSH = { low: 22, high: 22 };
const KEEP_SSH = rule({ direction: "inbound", action: "allow", protocol: "tcp", destination_ports: SSH });

test("a connection that the rules allow is not forbidden", () => {
  expect(forbidden(KEEP_SSH)).toEqual([]);
});

test("a rule for a port of an instance also forbids connections to this port through a floating IP", () => {
  expect(forbidden(rule({ ...KEEP_SSH, action: "deny" }))).toEqual([FLOATING]);
});

test("without a rule, a connection from outside the VPC is forbidden", () => {
  expect(forbidden()).toEqual([FLOATING]);
});

test("a rule for outbound packets forbids only connections that a NIC of this node began", () => {
  expect(forbidden(KEEP_SSH, rule({ direction: "outbound", action: "deny" }))).toEqual([DNS]);
});

test("an ICMP exchange is identified by its conntrack id, not by its ICMP id", () => {
  expect(forbidden(KEEP_SSH, rule({ direction: "inbound", action: "deny", protocol: "icmp6" }))).toEqual([PING]);
});

test("the table contains the ids of the forbidden connections, and is deleted if no connection is forbidden", () => {
  expect(forbiddenTable([DNS, PING])).toContain("elements = { 2, 3 }");
  expect(forbiddenTable([])).toBe("table inet berth_forbidden\ndelete table inet berth_forbidden\n");
});
