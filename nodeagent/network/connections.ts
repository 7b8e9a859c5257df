// Ends the open connections that a changed firewall forbids, and no others. The firewall looks only at the first packet
// of a connection. So the agent compares each connection that conntrack knows with the new rules. It skips connections
// of protocols that have neither ports nor ICMP types. A separate table drops the packets of forbidden connections in
// both directions, by their conntrack ids. Two other ways do not work:
// - If the connection were deleted from conntrack, a packet from the other side could begin it again in a direction
//   that is allowed.
// - To mark the forbidden connections is too slow, because conntrack reads its whole table for each mark: 2 s for a few
//   hundred connections.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { inCidr, parseIp } from "../../src/lib/net/ip-address.ts";
import { parseBlock } from "../../src/lib/net/ip-block.ts";
import { firewallOf, type Packet } from "../../src/lib/net/firewall-verdict.ts";

/** The table that drops the packets of forbidden connections. */
const TABLE = "inet berth_forbidden";

/** A connection as conntrack knows it. */
export type Connection = {
  readonly family: "ipv4" | "ipv6";
  /** The packet as it was sent, before the translation of addresses. */
  readonly sent: Packet;
  /** The source after the translation of addresses. */
  readonly source: string;
  /** The destination after the translation of addresses. */
  readonly destination: string;
  readonly destination_port: number | null;
  /** The conntrack id. It is unique, and it stays the same while conntrack knows the connection. */
  readonly id: number;
};

/** Reads what `conntrack -L -o id` prints. Skips connections of protocols that have neither ports nor ICMP types. */
export function parseConnections(listing: string): readonly Connection[] {
  return listing.split("\n").flatMap((line) => {
    const fields = [...line.matchAll(/\b(src|dst|sport|dport|type|code|id)=(\S+)/g)];
    const all = (name: string) => fields.filter(([, key]) => key === name).map(([, , value = ""]) => value);
    const [source, reply_source] = all("src");
    const [destination, reply_destination] = all("dst");
    const protocol = line.split(/\s+/, 1)[0] ?? "";
    if (source === undefined || reply_source === undefined) return [];
    if (destination === undefined || reply_destination === undefined) return [];
    const ports = pair(all("sport")[0], all("dport")[0], (a, b) => ({ source: a, destination: b }));
    const icmp = pair(all("type")[0], all("code")[0], (type, code) => ({ type, code }));
    if (ports === null && icmp === null) return [];
    const reply_port = all("sport")[1];
    return [{
      family: source.includes(":") ? "ipv6" : "ipv4",
      sent: { source, destination, protocol: protocol === "icmpv6" ? "ipv6-icmp" : protocol, ports, icmp },
      source: reply_destination,
      destination: reply_source,
      destination_port: reply_port === undefined ? null : Number(reply_port),
      // The line of an ICMP exchange also contains the ICMP id, before the conntrack id.
      id: Number(all("id").at(-1)),
    }];
  });
}

function pair<T>(a: string | undefined, b: string | undefined, make: (a: number, b: number) => T): T | null {
  return a === undefined || b === undefined ? null : make(Number(a), Number(b));
}

/** Returns the ids of the connections that the document's firewall forbids. */
export function forbiddenIds(document: NetworkDocument, connections: readonly Connection[]): readonly number[] {
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
  return connections.flatMap(({ id, sent, destination, destination_port }) => {
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
    return is_allowed ? [] : [id];
  });
}

/**
 * Returns the text for `nft -f` that replaces the table of forbidden connections. Without forbidden connections, there
 * is no table.
 */
export function forbiddenTable(ids: readonly number[]): string {
  return [
    `table ${TABLE}`,
    `delete table ${TABLE}`,
    ...(ids.length === 0 ? [] : [
      `table ${TABLE} {`,
      `  set connections { typeof ct id; elements = { ${ids.join(", ")} }; }`,
      "  chain forward {",
      "    type filter hook forward priority filter - 1;",
      "    ct id @connections counter drop",
      "  }",
      "}",
    ]),
    "",
  ].join("\n");
}
