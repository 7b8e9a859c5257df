// Serves router advertisements and DHCPv6 in one router. A guest without an IPv6 address gets neither.
import { GATEWAY_IPV6, tapName } from "../names.ts";
import { addressBytes } from "./address-bytes.ts";
import { dhcp6Reply } from "./dhcp6.ts";
import type { Guest, GuestPlan } from "./guest-plan.ts";
import type { LinkSockets } from "./link-sockets.ts";
import { ADVERTISEMENT_INTERVAL_MS, ROUTER_SOLICITATION, routerAdvertisement } from "./router-advert.ts";

/** The UDP port on which a DHCPv6 server gets requests (RFC 8415). */
export const DHCP6_PORT = 547;

export type Ipv6Services = {
  update(plan: GuestPlan): void;
  /** Answers the packets that wait, and sends the advertisements that are due. Must be called often. */
  work(now_ms: number): void;
  close(): void;
};

const ALL_NODES = addressBytes("ff02::1");
const ROUTER = Uint8Array.from(addressBytes(GATEWAY_IPV6));

/** Opens the sockets in the current namespace. Throws an Error if one cannot be opened. */
export function openIpv6Services(sockets: LinkSockets, first: GuestPlan): Ipv6Services {
  const solicitations = sockets.icmp(ROUTER_SOLICITATION, ROUTER);
  let plan = first;
  let by_tap = tapsOf(first);
  let advertise_ms = 0;
  const requests = openRequests();

  function openRequests() {
    try {
      return sockets.udp(DHCP6_PORT, ROUTER);
    } catch (error) {
      solicitations.close();
      throw error;
    }
  }

  function advertise(taps: Iterable<string>): void {
    const packet = routerAdvertisement(plan.mtu);
    for (const device of taps) solicitations.send(packet, { to: Uint8Array.from(ALL_NODES), port: 0, device });
  }

  return {
    update: (next) => {
      if (next.mtu !== plan.mtu) advertise_ms = 0;
      plan = next;
      by_tap = tapsOf(next);
    },
    work: (now_ms) => {
      // One advertisement answers all solicitations of a tap.
      const asking = new Set(solicitations.receive().map(({ device }) => device));
      if (now_ms >= advertise_ms) {
        advertise(by_tap.keys());
        advertise_ms = now_ms + ADVERTISEMENT_INTERVAL_MS;
      } else advertise([...asking].filter((device) => by_tap.has(device)));
      for (const { data, from, port, device } of requests.receive()) {
        const guest = by_tap.get(device);
        const reply = guest === undefined ? null : dhcp6Reply(data, guest);
        if (reply !== null) requests.send(reply, { to: from, port, device });
      }
    },
    close: () => {
      solicitations.close();
      requests.close();
    },
  };
}

function tapsOf({ guests }: GuestPlan): ReadonlyMap<string, Guest> {
  return new Map(guests.filter(({ ipv6 }) => ipv6 !== null).map((guest) => [tapName(guest.mac), guest]));
}
