// Opens the DHCP sockets. One socket receives on the address `listen`, by default on every interface. Each segment also
// has a socket that is bound to the booter's address on the segment. This socket sends the replies, because the bound
// address decides on which interface a broadcast is sent. Renewals and relayed packets arrive at the bound sockets, so
// these sockets use the same packet handler.
import type { Counters } from "../counters.ts";
import type { Architecture, BootSettings } from "../decision.ts";
import type { Log } from "../log.ts";
import type { Found, Records } from "../api-client/records.ts";
import { ipv4Text } from "../ipv4.ts";
import { openUdp, type UdpSocket } from "../udp-socket.ts";
import { answerDhcp, type DhcpAsked, type DhcpRules, type DhcpSilence } from "./answer.ts";
import { clientReport, type DhcpClient, readClient } from "./client.ts";
import { addressOption, DECLINE, type DhcpPacket, DISCOVER, type PacketFault, readPacket, REQUEST } from "./packet.ts";
import type { Leases } from "./leases.ts";
import type { BootRequests } from "./requests.ts";
import type { Transactions } from "./transactions.ts";

export type DhcpOptions = {
  readonly listen: string;
  readonly port: number;
  /** The port where machines ask a proxy for their boot file. */
  readonly proxy_port: number;
  readonly rules: DhcpRules;
  readonly records: Records;
  readonly settings: () => BootSettings;
  readonly transactions: Transactions;
  readonly requests: BootRequests;
  readonly leases: Leases;
  /** Returns the file that a client of this kind loads next. */
  readonly bootFile: (asked: BootFileQuestion) => string;
  readonly counters: Counters;
  readonly log: Log;
};

export type BootFileQuestion = {
  readonly kind: DhcpClient["kind"];
  readonly architecture: Architecture;
  readonly server: string;
  readonly mac: string;
  readonly address: string;
  readonly xid: number;
};

export type DhcpSource = { readonly address: string; readonly port: number };
export type Sent = {
  readonly bytes: Uint8Array;
  readonly address: string;
  readonly port: number;
  readonly server: string;
};
type AnyReason = DhcpSilence | PacketFault | "bad_guid" | "superseded" | "too_large";

/** The longest packet that is read. No client sends more than one Ethernet frame. */
const PACKET_BYTES_MAX = 1_500;

export type DhcpServer = { readonly port: number; close(): Promise<void> };

/** Returns a packet handler that passes replies to `send`. If the record is fresh, the handler makes no lookup. */
export function dhcpHandler(options: Omit<DhcpOptions, "listen" | "port" | "proxy_port">, send: (sent: Sent) => void) {
  const { records, requests, leases, transactions, counters, log, rules, settings } = options;

  function silent(mac: string, reason: AnyReason): void {
    counters.count("dhcp_silent_total", { reason });
    log("dhcp.silent", { mac, reason });
  }

  function decided({ packet, client, source, asked }: Asked, found: Found): void {
    const answer = answerDhcp({
      packet,
      client,
      source,
      record: found.facts,
      verified: found.verified,
      policy: settings(),
      rules,
      asked,
      bootFile: (kind, server) =>
        options.bootFile({
          kind,
          architecture: client.architecture,
          server,
          mac: packet.mac,
          address: (rules.is_proxy ? leases.addressOf(packet.mac) : found.facts?.address) ?? "",
          xid: transactions.last(packet.mac)?.xid ?? packet.xid,
        }),
    });
    if (answer.kind === "silent") return silent(packet.mac, answer.reason);
    counters.count(packet.type === DISCOVER ? "dhcp_offers_total" : "dhcp_acks_total", { client: client.kind });
    send(answer);
  }

  /**
   * Learns the machine's address from its packet: on the DHCP port from option 50 (the machine asks another DHCP
   * server), on port 4011 from ciaddr.
   */
  function learn(packet: DhcpPacket, port: DhcpAsked): void {
    const address = port === "dhcp" ? addressOption(packet, 50) : packet.ciaddr;
    if (address !== null && address !== 0) leases.learned(packet.mac, ipv4Text(address));
  }

  const failed = (mac: string) => (error: unknown) => {
    counters.count("dhcp_errors_total");
    log("dhcp.error", { mac, error: error instanceof Error ? error.message : "unknown" });
  };

  return (bytes: Uint8Array, source: DhcpSource, asked: DhcpAsked = "dhcp"): void => {
    try {
      handle(bytes, source, asked);
    } catch (error) {
      failed("")(error);
    }
  };

  function handle(bytes: Uint8Array, source: DhcpSource, port: DhcpAsked): void {
    if (bytes.length > PACKET_BYTES_MAX) return silent("", "too_large");
    const packet = readPacket(bytes);
    if (typeof packet === "string") return silent("", packet);
    const identity = readClient(packet);
    if (identity === null) return silent(packet.mac, "bad_guid");
    if (packet.type === DECLINE) {
      log("dhcp.declined", { mac: packet.mac, meaning: "another machine has this address" });
      return silent(packet.mac, "declined");
    }
    if (packet.type !== DISCOVER && packet.type !== REQUEST) return silent(packet.mac, "not_for_servers");
    const client = servable(remembered(packet, identity, transactions), settings());
    // The packets that are refused here cause no lookup. Only a foreign client is reported to the control plane.
    if (client.kind === "plain" && settings().answer_only_pxe) return silent(packet.mac, "not_pxe");
    if (client.kind === "foreign") {
      requests.received(packet.mac, client);
      return silent(packet.mac, "foreign_architecture");
    }
    if (rules.is_proxy && packet.type === REQUEST) learn(packet, port);
    if (packet.type === DISCOVER) transactions.discovered(packet.mac, { xid: packet.xid, client });
    const asked = { packet, client, source, asked: port };
    const fresh = records.fresh(packet.mac);
    if (fresh !== null) {
      if (packet.type === DISCOVER) requests.received(packet.mac, client);
      return decided(asked, fresh);
    }
    requests.lookedUp(packet.mac, client);
    void records.find(packet.mac, clientReport(client)).then((found) => {
      // If the machine sent another DISCOVER during the lookup, this transaction is over.
      const last = transactions.last(packet.mac);
      if (packet.type === DISCOVER && last !== null && last.xid !== packet.xid) {
        return silent(packet.mac, "superseded");
      }
      decided(asked, found);
    }).catch(failed(packet.mac));
  }
}

type Asked = {
  readonly packet: DhcpPacket;
  readonly client: DhcpClient;
  readonly source: DhcpSource;
  readonly asked: DhcpAsked;
};

/**
 * Returns the client of the packet. If a REQUEST does not identify its client, returns the client of the machine's last
 * DISCOVER with the same xid.
 */
function remembered(packet: DhcpPacket, identity: DhcpClient, transactions: Transactions): DhcpClient {
  if (packet.type !== REQUEST || identity.kind !== "plain") return identity;
  const last = transactions.last(packet.mac);
  return last !== null && last.xid === packet.xid ? last.client : identity;
}

/** Changes the kind of the client to "foreign" if the booter has no program for the client's architecture. */
function servable(client: DhcpClient, { has_arm64 }: BootSettings): DhcpClient {
  const is_foreign = client.architecture === "arm64" && !has_arm64 && client.kind !== "plain";
  return is_foreign ? { ...client, kind: "foreign" } : client;
}

export async function openDhcp(options: DhcpOptions): Promise<DhcpServer> {
  const { listen, rules, counters, log } = options;
  const senders = new Map<string, UdpSocket>();
  const failed = (error: Error) => {
    counters.count("dhcp_errors_total");
    log("dhcp.error", { error: error.message });
  };
  const handle = dhcpHandler(options, ({ bytes, address, port, server }) => {
    senders.get(server)?.send(bytes, port, address);
  });
  const sockets: UdpSocket[] = [];
  // A machine accepts the reply of port 4011 only from this port.
  const openProxy = async (address: string) => {
    const socket: UdpSocket = await openUdp({
      address,
      port: options.proxy_port,
      received: (bytes, from) => proxied(bytes, from, "proxy"),
      failed,
    });
    const proxied = dhcpHandler(options, (sent) => socket.send(sent.bytes, sent.port, sent.address));
    return socket;
  };
  let port = options.port;
  const open = async (address: string, broadcast: boolean) => {
    const socket = await openUdp({ address, port, shared: true, broadcast, received: handle, failed });
    sockets.push(socket);
    port = socket.port;
    return socket;
  };
  try {
    for (const { address } of rules.segments) senders.set(address, await open(address, true));
    if (!senders.has(listen)) await open(listen, false);
    if (rules.is_proxy) {
      for (const { address } of rules.segments) sockets.push(await openProxy(address));
    }
  } catch (error) {
    await Promise.all(sockets.map((each) => each.close()));
    throw error;
  }
  return { port, close: async () => void await Promise.all(sockets.map((each) => each.close())) };
}
