// Serves the sockets of one router: DHCP in both families, router advertisements, DNS and metadata. The router's
// firewall accepts packets to these sockets only from guests of the router.
import { METADATA_IPV4, METADATA_IPV6 } from "../names.ts";
import type { Bun, UdpSocket } from "./bun.ts";
import { dhcpReply } from "./dhcp.ts";
import { listenForDns } from "./dns-connections.ts";
import { failure, localAnswer, questionOf } from "./dns.ts";
import { type Ipv6Services, openIpv6Services } from "./ipv6-services.ts";
import type { LinkSockets } from "./link-sockets.ts";
import { type MetadataAnswer, metadataAnswer, type MetadataOptions, type MetadataRequest } from "./metadata.ts";
import type { Namespaces } from "./namespaces.ts";
import { resolve, type Transport } from "./resolver.ts";
import type { GuestPlan } from "./guest-plan.ts";

export const DHCP_PORT = 67;
export const DHCP_CLIENT_PORT = 68;
export const DNS_PORT = 53;
export const METADATA_PORT = 80;
/**
 * Maximum number of questions of one VPC that wait for a resolver. Further questions get no answer, so that a guest
 * cannot use up the node's sockets.
 */
const QUESTIONS_MAX = 64;
/** A request for metadata has no body. */
const BODY_BYTES_MAX = 1_024;
/** Seconds after which a silent HTTP connection ends. The router's ruleset limits the number of these connections. */
const IDLE_S = 10;

export type RouterSockets = {
  /** Replaces the plan. The next packet is answered according to the new plan. */
  update(plan: GuestPlan): void;
  /** Answers waiting packets of the sockets that report no events, and sends due advertisements. Call this often. */
  work(now_ms: number): void;
  close(): Promise<void>;
};

export type RouterSocketsOptions = {
  readonly bun: Bun;
  readonly links: LinkSockets;
  readonly namespaces: Namespaces;
  readonly plan: GuestPlan;
  readonly metadata: Pick<MetadataOptions, "filesOf" | "key">;
  readonly log: (line: string) => void;
};

/**
 * Opens the sockets in the router's namespace. If the UDP socket of DNS or DHCPv4 cannot be opened, logs this. Throws
 * an Error if any other socket cannot be opened.
 */
export function openRouterSockets(
  { bun, links, namespaces, plan, metadata, log }: RouterSocketsOptions,
): RouterSockets {
  let current = plan;
  let questions = 0;
  const closers: (() => Promise<void> | void)[] = [];

  async function answerDns(query: Uint8Array, transport: Transport): Promise<Uint8Array | null> {
    const question = questionOf(query);
    if (question === null) return null;
    const own = localAnswer(query, question, current);
    if (own !== null) return own;
    if (questions >= QUESTIONS_MAX) return null;
    questions += 1;
    try {
      return await resolve(query, current.resolvers, transport) ?? failure(query, question);
    } finally {
      questions -= 1;
    }
  }

  function openUdp(
    hostname: string,
    port: number,
    onPacket: (socket: UdpSocket, data: Uint8Array, reply: Reply) => void,
  ) {
    const opening = bun.udpSocket({
      hostname,
      port,
      socket: {
        data: (socket, data, from_port, from) => {
          // A malformed packet of one guest must not end the service for other guests.
          try {
            onPacket(socket, data, (answer) => void socket.send(answer, from_port, from));
          } catch (error) {
            log(`${current.namespace}: port ${port}: ${(error as Error).message}`);
          }
        },
        // An earlier answer could not be delivered, for example because its guest no longer exists.
        error: () => {},
      },
    });
    opening.catch((error) => log(`${plan.namespace}: UDP port ${port} of ${hostname}: ${error.message}`));
    closers.push(() => opening.then((socket) => socket.close(), () => {}));
  }

  function openDns(hostname: string): void {
    openUdp(hostname, DNS_PORT, (_, query, reply) => {
      const copy = query.slice();
      void answerDns(copy, "udp").then((answer) => answer !== null && reply(answer));
    });
    const answerTo = (query: Uint8Array) => answerDns(query, "tcp");
    const listener = listenForDns({ bun, hostname, port: DNS_PORT, answerTo });
    closers.push(() => listener.stop(true));
  }

  async function answerMetadata(request: MetadataRequest): Promise<MetadataAnswer> {
    try {
      return await metadataAnswer(request, { ...metadata, guests: current.guests, now_ms: Date.now() });
    } catch (error) {
      log(`${current.namespace}: metadata of ${request.from}: ${(error as Error).message}`);
      return { status: 500, body: "the metadata is damaged\n" };
    }
  }

  function openMetadata(hostname: string): void {
    const server = bun.serve({
      hostname,
      port: METADATA_PORT,
      maxRequestBodySize: BODY_BYTES_MAX,
      idleTimeout: IDLE_S,
      development: false,
      fetch: async (request, server) => {
        const { status, body } = await answerMetadata({
          method: request.method,
          // A request of HTTP/1.0 may have no host.
          path: new URL(request.url, `http://${METADATA_IPV4}`).pathname,
          from: server.requestIP(request)?.address ?? "",
          header: (name) => request.headers.get(name),
        });
        return new Response(body, { status, headers: { "content-type": "text/plain" } });
      },
    });
    closers.push(() => server.stop(true));
  }

  async function close(): Promise<void> {
    await Promise.all(closers.map((end) => end()));
  }

  let ipv6: Ipv6Services;
  try {
    namespaces.within(plan.namespace, () => {
      ipv6 = openIpv6Services(links, plan);
      closers.push(ipv6.close);
      openUdp("0.0.0.0", DHCP_PORT, (socket, request) => {
        const answer = dhcpReply(request, current);
        if (answer !== null) socket.send(answer.packet, DHCP_CLIENT_PORT, answer.to);
      });
      for (const address of [METADATA_IPV4, METADATA_IPV6]) {
        openDns(address);
        openMetadata(address);
      }
    });
  } catch (error) {
    void close();
    throw error;
  }
  return {
    update: (next) => {
      current = next;
      ipv6.update(next);
    },
    work: (now_ms) => ipv6.work(now_ms),
    close,
  };
}

type Reply = (answer: Uint8Array) => void;
