// Compares the wanted state of a router with the observed one. Returns the commands that make them equal, as batches
// for `ip -batch` and `bridge -batch`. `ip` accepts only one family in a batch.
import { NAT_GATEWAY_SILENCE_S } from "../../src/contract/limits.ts";
import { destinationKey, FALLBACK_METRIC, FALLBACK_PROTOCOL, type KernelRoute } from "./kernel-route.ts";
import { EXTERNAL_DEVICE, OVERLAY_DEVICE } from "./names.ts";
import {
  type Address,
  type Family,
  type FamilyState,
  type Forwarding,
  type Neighbour,
  type PolicyRule,
  type RouterState,
} from "./router-state.ts";

export type Changes = {
  /** Lines for `ip -4 -batch` and `ip -6 -batch`. */
  readonly ip: Readonly<Record<Family, readonly string[]>>;
  /** Lines for `bridge -batch`. */
  readonly bridge: readonly string[];
  /** Floating IPv4 addresses that the router gets now and must announce. The kernel announces IPv6 addresses itself. */
  readonly announced: readonly string[];
};

/** Returns the changes. Without a difference all lists are empty. */
export function changesOf(observed: RouterState, wanted: RouterState): Changes {
  const ip = { 4: familyLines(4, observed, wanted), 6: familyLines(6, observed, wanted) };
  const nodes = difference(observed.nodes, wanted.nodes, forwardingKey);
  return {
    ip,
    bridge: [
      ...nodes.removed.map(({ mac, underlay_address }) =>
        `fdb del ${mac} dev ${OVERLAY_DEVICE} dst ${underlay_address} self`
      ),
      ...nodes.added.map(({ mac, underlay_address }) =>
        `fdb replace ${mac} dev ${OVERLAY_DEVICE} dst ${underlay_address} self permanent`
      ),
    ],
    announced: difference(observed.families[4].addresses, wanted.families[4].addresses, addressKey).added
      .filter(({ device, is_leased }) => device === EXTERNAL_DEVICE && is_leased !== true)
      .map(({ address }) => address),
  };
}

function familyLines(family: Family, before: RouterState, after: RouterState): string[] {
  const [observed, wanted] = [before.families[family], after.families[family]];
  const of = <K extends keyof FamilyState>(name: K, key: (one: FamilyState[K][number]) => string) =>
    difference<FamilyState[K][number]>(observed[name], wanted[name], key);
  const addresses = of("addresses", addressKey);
  const neighbours = of("neighbours", neighbourKey);
  const rules = of("rules", ruleKey);
  const routes = of("routes", routeKey);
  const replaced = new Set(routes.added.map(destinationKey));
  return [
    // Additions come first and removals last. So a packet that the old and the new state allow always has a route.
    ...addresses.added.filter(({ is_leased }) => is_leased !== true).map(({ device, address }) =>
      // The addresses of the external device have no `nodad`, because the kernel announces only addresses without it
      // (external-device.ts). No address is checked for duplicates: the router's namespace disables this check.
      `addr replace ${address}/${prefixOf(family, device)} dev ${device}` +
      (family === 6 && device !== EXTERNAL_DEVICE ? " nodad" : "")
    ),
    // Only `holdGateways` adds the addresses of NAT gateways. But an agent of an earlier release may have added such an
    // address without a lifetime. This command sets the lifetime.
    ...addresses.added.filter((each) => each.is_leased === true && isIn(observed.addresses, each))
      .map(({ address }) => leaseLine(address, NAT_GATEWAY_SILENCE_S)),
    ...neighbours.added.map(({ device, address, mac }) =>
      `neigh replace ${address} lladdr ${mac} dev ${device} nud permanent`
    ),
    ...routes.added.map((route) => `route replace ${routeText(route)}`),
    ...rules.added.map((rule) => `rule add ${ruleKey(rule)}`),
    ...rules.removed.map((rule) => `rule del ${ruleKey(rule)}`),
    ...routes.removed.filter((route) => !replaced.has(destinationKey(route))).map((route) =>
      `route del ${route.destination} ${placeText(route)}`
    ),
    ...neighbours.removed
      .filter(({ device, address }) => !wanted.neighbours.some((n) => n.device === device && n.address === address))
      .map(({ device, address }) => `neigh del ${address} dev ${device}`),
    ...addresses.removed.filter((each) => !isIn(wanted.addresses, each))
      .map(({ device, address }) => `addr del ${address}/${prefixOf(family, device)} dev ${device}`),
  ];
}

/** Returns the line that gives the router a public address for some seconds. */
export function leaseLine(address: string, left_s: number): string {
  const prefix = prefixOf(address.includes(":") ? 6 : 4, EXTERNAL_DEVICE);
  return `addr replace ${address}/${prefix} dev ${EXTERNAL_DEVICE} valid_lft ${left_s} preferred_lft ${left_s}`;
}

function isIn(addresses: readonly Address[], { device, address }: Address): boolean {
  return addresses.some((each) => each.device === device && each.address === address);
}

type Difference<T> = { readonly added: readonly T[]; readonly removed: readonly T[] };

function difference<T>(observed: readonly T[], wanted: readonly T[], key: (one: T) => string): Difference<T> {
  const [have, want] = [new Set(observed.map(key)), new Set(wanted.map(key))];
  return {
    added: wanted.filter((one) => !have.has(key(one))),
    removed: observed.filter((one) => !want.has(key(one))),
  };
}

/** Link-local addresses of routers are in a /64. All others are single addresses. */
function prefixOf(family: Family, device: string): number {
  if (family === 4) return 32;
  return device === EXTERNAL_DEVICE || device === "lo" ? 128 : 64;
}

function routeText(route: KernelRoute): string {
  const { destination, hop } = route;
  const place = placeText(route);
  switch (hop.kind) {
    case "blackhole":
    case "unreachable":
      return `${hop.kind} ${destination} ${place}`;
    case "device":
      return `${destination} dev ${hop.device}${destination.includes(":") ? "" : " scope link"} ${place}`;
    case "gateway":
      // An IPv4 route may lead over an IPv6 neighbour, so the command names the gateway's family.
      return `${destination} via ${hop.gateway.includes(":") ? "inet6" : "inet"} ${hop.gateway} dev ${hop.device} ` +
        `onlink ${place}`;
  }
}

function placeText({ table, is_fallback = false }: KernelRoute): string {
  return is_fallback
    ? `table ${table} metric ${FALLBACK_METRIC} proto ${FALLBACK_PROTOCOL}`
    : `table ${table} proto static`;
}

function addressKey({ device, address, is_leased = false }: Address): string {
  return `${device} ${address} ${is_leased}`;
}

function neighbourKey({ device, address, mac }: Neighbour): string {
  return `${device} ${address} ${mac}`;
}

function forwardingKey({ mac, underlay_address }: Forwarding): string {
  return `${mac} ${underlay_address}`;
}

function ruleKey({ priority, from, table }: PolicyRule): string {
  return `pref ${priority} from ${from} lookup ${table}`;
}

function routeKey(route: KernelRoute): string {
  const { hop } = route;
  const target = hop.kind === "gateway"
    ? `${hop.gateway} ${hop.device}`
    : hop.kind === "device"
    ? hop.device
    : hop.kind;
  return `${destinationKey(route)} ${target}`;
}
