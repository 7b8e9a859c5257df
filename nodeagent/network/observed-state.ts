// Reads the observed state of a router from the JSON that `ip -j` and `bridge -j` print.
import type { TapBytes } from "./network-driver.ts";
import { FALLBACK_PROTOCOL, type Hop, type KernelRoute, MAIN_TABLE } from "./kernel-route.ts";
import { EXTERNAL_DEVICE, GATEWAY_IPV6, OVERLAY_DEVICE, tapName } from "./names.ts";
import {
  FAMILIES,
  type Family,
  type FamilyState,
  type Forwarding,
  isOwnTable,
  OWN_PRIORITIES,
  type RouterState,
} from "./router-state.ts";

/** The printed JSON of one namespace. */
export type Printed = {
  readonly addresses: string;
  readonly neighbours: string;
  readonly forwardings: string;
  readonly rules: Readonly<Record<Family, string>>;
  readonly routes: Readonly<Record<Family, string>>;
};

type PrintedAddress = {
  readonly ifname: string;
  readonly addr_info: readonly {
    readonly family: "inet" | "inet6";
    readonly local: string;
    /** True if the address has a lifetime, after which the kernel removes the address. */
    readonly dynamic?: boolean;
  }[];
};
type PrintedNeighbour = {
  readonly dst: string;
  readonly dev: string;
  readonly lladdr?: string;
  readonly state: readonly string[];
};
type PrintedForwarding = { readonly mac: string; readonly dst?: string; readonly state?: string };
type PrintedRule = {
  readonly priority: number;
  readonly src: string;
  readonly srclen?: number;
  readonly table: string;
};
type PrintedRoute = {
  readonly type?: string;
  readonly dst: string;
  readonly table?: string;
  readonly protocol?: string;
  readonly dev?: string;
  readonly gateway?: string;
  readonly via?: { readonly host: string };
};

/** Returns the parts of a namespace's state that a document determines. The driver changes no other part. */
export function observedState(printed: Printed): RouterState {
  const families = Object.fromEntries(FAMILIES.map((family) => [family, familyState(printed, family)]));
  return { families: families as Record<Family, FamilyState>, nodes: forwardings(printed.forwardings) };
}

function familyState(printed: Printed, family: Family): FamilyState {
  return {
    addresses: list<PrintedAddress>(printed.addresses).flatMap(({ ifname, addr_info }) =>
      addr_info
        .filter((each) => each.family === (family === 4 ? "inet" : "inet6") && isOurs(ifname, each.local))
        .map(({ local, dynamic = false }) => ({ device: ifname, address: local, is_leased: dynamic }))
    ),
    neighbours: list<PrintedNeighbour>(printed.neighbours)
      .filter(({ dst, state }) => dst.includes(":") === (family === 6) && state.includes("PERMANENT"))
      .map(({ dst, dev, lladdr = "" }) => ({ device: dev, address: dst, mac: lladdr })),
    rules: list<PrintedRule>(printed.rules[family])
      .filter(({ priority }) => OWN_PRIORITIES.has(priority))
      .map(({ priority, src, srclen, table }) => ({
        priority,
        from: srclen === undefined ? src : `${src}/${srclen}`,
        table: Number(table),
      })),
    routes: list<PrintedRoute>(printed.routes[family]).flatMap(routeOf),
  };
}

/**
 * Returns false for an address that the kernel itself gives to a device: a link-local address, and 127.0.0.1 and ::1 of
 * the loopback device. Such addresses stay.
 */
function isOurs(device: string, address: string): boolean {
  if (address === "127.0.0.1" || address === "::1") return false;
  if (!address.startsWith("fe80:")) return true;
  return address === GATEWAY_IPV6 || (device === OVERLAY_DEVICE && address.startsWith("fe80::be:"));
}

function routeOf({ type, dst, table, protocol, dev, gateway, via }: PrintedRoute): KernelRoute[] {
  const number = table === undefined || table === "main" ? MAIN_TABLE : Number(table);
  const is_fallback = protocol === FALLBACK_PROTOCOL;
  if (!(is_fallback || protocol === "static") || !isOwnTable(number)) return [];
  const hop = hopOf({ type, dev, gateway: gateway ?? via?.host });
  return hop === null ? [] : [{ table: number, destination: dst, hop, is_fallback }];
}

function hopOf(
  { type, dev, gateway }: {
    readonly type: string | undefined;
    readonly dev: string | undefined;
    readonly gateway: string | undefined;
  },
): Hop | null {
  if (type === "blackhole" || type === "unreachable") return { kind: type };
  if (dev === undefined) return null;
  return gateway === undefined ? { kind: "device", device: dev } : { kind: "gateway", gateway, device: dev };
}

function forwardings(printed: string): Forwarding[] {
  return list<PrintedForwarding>(printed).flatMap(({ mac, dst, state }) =>
    dst === undefined || state !== "permanent" || /^0+(:0+)*$/.test(mac) ? [] : [{ mac, underlay_address: dst }]
  );
}

export type Link = {
  readonly ifname: string;
  readonly address: string;
  readonly mtu: number;
  readonly flags: readonly string[];
};

/** Returns the addresses that `ip -j addr` prints. */
export function addressesOf(printed: string): ReadonlySet<string> {
  return new Set(list<PrintedAddress>(printed).flatMap(({ addr_info }) => addr_info.map(({ local }) => local)));
}

/** Reads what `ip -j link` prints. */
export function linksOf(printed: string): readonly Link[] {
  return list<Link>(printed);
}

/** Returns the names of the taps among the links that `ip -j link` prints. */
export function tapsOf(printed: string): ReadonlySet<string> {
  return new Set(
    list<{ readonly ifname: string }>(printed).map(({ ifname }) => ifname).filter((name) => TAP.test(name)),
  );
}

type PrintedCounters = {
  readonly ifname: string;
  readonly stats64?: { readonly rx: { readonly bytes: number }; readonly tx: { readonly bytes: number } };
};

/** Returns the bytes of each tap among the links that `ip -j -s link` prints, by MAC of its NIC. */
export function tapBytesOf(printed: string): ReadonlyMap<string, TapBytes> {
  return new Map(
    list<PrintedCounters>(printed).filter(({ ifname }) => TAP.test(ifname)).map(({ ifname, stats64 }) => [
      macOfTap(ifname),
      { received: stats64?.rx.bytes ?? 0, sent: stats64?.tx.bytes ?? 0 },
    ]),
  );
}

function macOfTap(name: string): string {
  return name.slice(tapName("").length).match(/../g)!.join(":");
}

const TAP = new RegExp(`^${tapName("")}[0-9a-f]{12}$`);

type PrintedLink = {
  readonly ifname: string;
  readonly linkinfo?: { readonly info_kind?: string; readonly info_data?: { readonly id?: number } };
};

/**
 * Returns the VLAN of the external network's device, from the output of `ip -j -d link`. Returns null if the device has
 * no VLAN, and undefined if there is no device.
 */
export function vlanOf(printed: string): number | null | undefined {
  const device = list<PrintedLink>(printed).find(({ ifname }) => ifname === EXTERNAL_DEVICE);
  if (device === undefined) return undefined;
  return device.linkinfo?.info_kind === "vlan" ? device.linkinfo.info_data?.id ?? null : null;
}

/** `ip` prints nothing at all for some empty lists. */
function list<T>(printed: string): readonly T[] {
  return printed.trim() === "" ? [] : JSON.parse(printed) as T[];
}
