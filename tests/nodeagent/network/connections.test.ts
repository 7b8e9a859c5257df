// Open connections and a changed firewall: which of them get or lose the mark by which the router drops their packets.
import { expect, test } from "vitest";
import { FORBIDDEN_MARK, markLines, parseConnections } from "../../../nodeagent/network/connections.ts";
import type { DocumentRule } from "../../../src/contract/network-document.ts";
import { documentOf, machine, rule } from "../../networks/documents.ts";

/** Lines as conntrack 1.4.7 prints them. The first came in by a floating IP, the second has ended here and is marked. */
const LISTING = [
  "tcp      6 431999 ESTABLISHED src=198.51.100.10 dst=203.0.113.7 sport=5000 dport=22 src=10.0.1.5 dst=198.51.100.10 " +
  "sport=22 dport=5000 [ASSURED] mark=0 use=1",
  "udp      17 29 src=10.0.1.5 dst=10.0.2.5 sport=53000 dport=53 [UNREPLIED] src=10.0.2.5 dst=10.0.1.5 sport=53 " +
  "dport=53000 mark=1 use=1",
  "icmpv6   58 29 src=fd00:a:1::6 dst=fd00:a:1::5 type=128 code=0 id=7 src=fd00:a:1::5 dst=fd00:a:1::6 type=129 code=0 " +
  "id=7 mark=0 use=1",
  "gre      47 29 src=10.0.1.5 dst=10.0.2.5 src=10.0.2.5 dst=10.0.1.5 mark=0 use=1",
].join("\n");

const lines = (...rules: readonly DocumentRule[]) =>
  markLines(
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
const UNMARK_DNS = "-U -f ipv4 -p udp -s 10.0.1.5 -d 10.0.2.5 --sport 53000 --dport 53 --mark 0";

test("a connection that the rules allow again loses its mark, and others stay as they are", () => {
  expect(lines(KEEP_SSH)).toEqual([UNMARK_DNS]);
});

test("a connection by a floating IP is forbidden by the port of its instance, and is named as it was sent", () => {
  expect(lines(rule({ ...KEEP_SSH, action: "deny" }))).toEqual([
    `-U -f ipv4 -p tcp -s 198.51.100.10 -d 203.0.113.7 --sport 5000 --dport 22 --mark ${FORBIDDEN_MARK}`,
    UNMARK_DNS,
  ]);
});

test("without a rule, a connection from outside the VPC is forbidden", () => {
  expect(lines()[0]).toContain("-s 198.51.100.10");
});

test("a rule for outbound packets forbids only connections that a NIC of this node began", () => {
  expect(lines(KEEP_SSH, rule({ direction: "outbound", action: "deny" }))).toEqual([]);
});

test("an ICMP exchange is named by its type, code and id", () => {
  expect(lines(KEEP_SSH, rule({ direction: "inbound", action: "deny", protocol: "icmp6" }))).toEqual([
    UNMARK_DNS,
    `-U -f ipv6 -p icmpv6 -s fd00:a:1::6 -d fd00:a:1::5 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 7 --mark ${FORBIDDEN_MARK}`,
  ]);
});
