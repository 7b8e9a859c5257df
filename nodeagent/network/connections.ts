// Ends the open connections that a changed firewall forbids, and no others. The firewall looks only at the first packet of
// a connection. So each connection that conntrack knows is compared with the new rules; a forbidden one gets a mark, and
// the ruleset drops its packets in both directions. Deleting it would not be enough: a packet of the other side would
// begin the connection again, in a direction that may be allowed. A connection that is allowed again loses its mark.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { inCidr, parseIp } from "../../src/lib/net/ip-address.ts";
import { parseBlock } from "../../src/lib/net/ip-block.ts";
import { firewallOf, type Packet } from "../../src/lib/net/firewall-verdict.ts";

/** The mark of a forbidden connection. */
export const FORBIDDEN_MARK = 1;

/** A connection as conntrack knows it. */
export type Connection = {
  readonly family: "ipv4" | "ipv6";
  /** The packet as it was sent, before the translation of addresses. */
  readonly sent: Packet;
  /** The destination after the translation of addresses. */
  readonly destination: string;
  readonly destination_port: number | null;
  readonly id: number | null;
  readonly mark: number;
};

/** Reads what `conntrack -L` prints. Skips connections of protocols that have neither ports nor ICMP types. */
export function parseConnections(listing: string): readonly Connection[] {
  return listing.split("\n").flatMap((line) => {
    const fields = [...line.matchAll(/\b(src|dst|sport|dport|type|code|id|mark)=(\S+)/g)];
    const all = (name: string) => fields.filter(([, key]) => key === name).map(([, , value = ""]) => value);
    const [source, reply_source] = all("src");
    const [destination] = all("dst");
    const protocol = line.split(/\s+/, 1)[0] ?? "";
    if (source === undefined || reply_source === undefined || destination === undefined) return [];
    const ports = pair(all("sport")[0], all("dport")[0], (a, b) => ({ source: a, destination: b }));
    const icmp = pair(all("type")[0], all("code")[0], (type, code) => ({ type, code }));
    if (ports === null && icmp === null) return [];
    const reply_port = all("sport")[1];
    return [{
      family: source.includes(":") ? "ipv6" : "ipv4",
      sent: { source, destination, protocol: protocol === "icmpv6" ? "ipv6-icmp" : protocol, ports, icmp },
      destination: reply_source,
      destination_port: reply_port === undefined ? null : Number(reply_port),
      id: icmp === null ? null : Number(all("id")[0]),
      mark: Number(all("mark")[0] ?? 0),
    }];
  });
}

function pair<T>(a: string | undefined, b: string | undefined, make: (a: number, b: number) => T): T | null {
  return a === undefined || b === undefined ? null : make(Number(a), Number(b));
}

/** Returns the lines for `conntrack -R` that give each connection the mark that the document's firewall demands. */
export function markLines(document: NetworkDocument, connections: readonly Connection[]): readonly string[] {
  const local = new Set(
    document.local_nics.flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6]).filter((address) => address !== null),
  );
  const blocks = document.local_nics.flatMap((nic) => nic.blocks ?? []).flatMap((block) => parseBlock(block) ?? []);
  const isLocal = (address: string) => {
    if (local.has(address)) return true;
    const ip = blocks.length === 0 ? null : parseIp(address);
    return ip !== null && blocks.some((block) => inCidr(ip, block));
  };
  const [out, into] = [firewallOf(document, "outbound"), firewallOf(document, "inbound")];
  return connections.flatMap((connection) => {
    const { sent, destination, destination_port, mark } = connection;
    // The firewall sees the translated destination.
    const seen: Packet = {
      ...sent,
      destination,
      ports: sent.ports === null ? null : {
        source: sent.ports.source,
        destination: destination_port ?? sent.ports.destination,
      },
    };
    const is_allowed = (!isLocal(sent.source) || out(seen).is_allowed) &&
      (!isLocal(destination) || into(seen).is_allowed);
    const wanted = is_allowed ? 0 : FORBIDDEN_MARK;
    return wanted === mark ? [] : [updateLine(connection, wanted)];
  });
}

function updateLine({ family, sent, id }: Connection, mark: number): string {
  const { source, destination, protocol, ports, icmp } = sent;
  return [
    `-U -f ${family} -p ${protocol === "ipv6-icmp" ? "icmpv6" : protocol} -s ${source} -d ${destination}`,
    ...(ports === null ? [] : [`--sport ${ports.source} --dport ${ports.destination}`]),
    ...(icmp === null ? [] : [`--icmp${family === "ipv6" ? "v6" : ""}-type ${icmp.type}`]),
    ...(icmp === null ? [] : [`--icmp${family === "ipv6" ? "v6" : ""}-code ${icmp.code}`]),
    ...(icmp === null || id === null ? [] : [`--icmp${family === "ipv6" ? "v6" : ""}-id ${id}`]),
    `--mark ${mark}`,
  ].join(" ");
}
