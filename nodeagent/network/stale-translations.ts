// Finds the open connections whose translation of addresses is no longer in the document. For example, a floating IP
// has moved to another NIC, or a port forward has changed. The kernel translates by the first packet of a connection,
// so the later packets would still pass to the earlier NIC. The router deletes such a connection from conntrack, and
// the next packet begins it again with the new rules. Each deletion reads conntrack's whole table, so one deletion
// selects all connections of a translation.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import type { Connection } from "./connections.ts";
import { floatingPairs } from "./translation.ts";

/**
 * Returns the arguments of `conntrack` that select all connections with this connection's translation. Returns null if
 * the connection is not translated, or if the document still has the translation.
 */
type StaleOf = (connection: Connection) => string | null;

/** Returns the calls of `conntrack` that delete the connections. Each text has the arguments of one call. */
export function staleTranslations(document: NetworkDocument, connections: readonly Connection[]): readonly string[] {
  const [into, out] = [staleDestination(document), staleSource(document)];
  const lines = connections.flatMap((each) =>
    [into(each), out(each)].filter((words) => words !== null).map((words) => `-D -f ${each.family} ${words}`)
  );
  return [...new Set(lines)];
}

/** Selects connections to a floating IP or a port forward. */
function staleDestination(document: NetworkDocument): StaleOf {
  const { floating, gateways, floating_ips } = publicAddresses(document);
  const forwards = document.nat_gateways.flatMap(({ public_address, port_forwards = [] }) =>
    port_forwards.map((forward) => ({ public_address, ...forward }))
  );
  const forwarded = new Set(forwards.map(({ public_address, address }) => `${address} ${public_address}`));
  const ports_forwarded = new Set(
    forwards.map(({ protocol, public_address, public_port, address, port }) =>
      `${protocol} ${public_address} ${public_port} ${address} ${port}`
    ),
  );
  return ({ sent, destination, destination_port }) => {
    const pair = `${destination} ${sent.destination}`;
    if (sent.destination === destination || floating.has(pair)) return null;
    // With `-g`, the connections to all NICs are selected: a gateway that has left the node may have had forwards to
    // many NICs.
    if (!gateways.has(sent.destination) && !floating_ips.has(sent.destination)) return `-d ${sent.destination} -g`;
    const words = `-d ${sent.destination} -r ${destination}`;
    if (!forwarded.has(pair)) return words;
    // The gateway still forwards some ports to this NIC.
    if (sent.ports === null) return null;
    const { protocol, ports } = sent;
    return ports_forwarded.has(
        `${protocol} ${sent.destination} ${ports.destination} ${destination} ${destination_port}`,
      )
      ? null
      : `${words} -p ${protocol} --dport ${ports.destination} --reply-port-src ${destination_port}`;
  };
}

/** Selects connections that leave with a public address. */
function staleSource(document: NetworkDocument): StaleOf {
  const { floating, gateways, floating_ips } = publicAddresses(document);
  return ({ sent, source }) => {
    if (sent.source === source || gateways.has(source) || floating.has(`${sent.source} ${source}`)) return null;
    // Without `-s`, all sources are selected: a gateway that has left the node may have had connections of many
    // sources.
    return floating_ips.has(source) ? `-s ${sent.source} -q ${source}` : `-q ${source}`;
  };
}

/** Returns the public addresses of this node. `floating` contains the floating IPs as `NIC_ADDRESS FLOATING_IP`. */
function publicAddresses({ local_nics, nat_gateways }: NetworkDocument) {
  const pairs = floatingPairs(local_nics);
  return {
    floating: new Set(pairs.map(({ outer, inner }) => `${inner} ${outer}`)),
    floating_ips: new Set(pairs.map(({ outer }) => outer)),
    gateways: new Set(nat_gateways.map(({ public_address }) => public_address)),
  };
}
