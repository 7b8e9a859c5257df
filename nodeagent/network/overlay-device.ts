// Creates the router's device towards the other nodes, and sets the sysctls of the router's namespace. A new namespace
// gets the sysctls before the device, so a namespace with the device has the sysctls. The device is set up last, so a
// device that is up has all its settings.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { OVERLAY_DEVICE, routerMac, VXLAN_PORT } from "./names.ts";
import { linksOf } from "./observed-state.ts";
import { FAMILIES, type Family } from "./router-state.ts";

export type OverlayPlace = {
  readonly underlay_address: string;
  readonly namespace: string;
  /** Runs `ip`. */
  ip(...words: readonly string[]): Promise<string>;
  /** Runs `ip` in the namespace of the node's own devices. */
  onHost(...words: readonly string[]): Promise<string>;
  /** Runs a program in the router. */
  inside(argv: readonly string[]): Promise<string>;
  /** Gives a program the lines of a batch. Does nothing if there are no lines. */
  batch(argv: readonly string[], lines: readonly string[]): Promise<void>;
};

/** The devices that this file sets up. */
const SET_UP: ReadonlySet<string> = new Set(["lo", OVERLAY_DEVICE]);

/** The kernel copies the values of `default` to each device that is created later. */
const SYSCTLS = [
  "net.ipv4.ip_forward=1",
  "net.ipv6.conf.all.forwarding=1",
  "net.ipv4.conf.all.rp_filter=1",
  "net.ipv4.conf.default.rp_filter=1",
  "net.ipv4.conf.all.send_redirects=0",
  "net.ipv4.conf.default.send_redirects=0",
  "net.ipv4.conf.all.accept_redirects=0",
  "net.ipv6.conf.default.accept_ra=0",
  "net.ipv6.conf.default.accept_dad=0",
  "net.ipv4.conf.default.arp_ignore=1",
] as const;

/**
 * Priority of our rule for the main table. Our rule replaces the kernel's rule, so that the main table comes before the
 * rules with higher numbers.
 */
const MAIN_RULE_PRIORITY = 300;
const KERNEL_MAIN_PRIORITY = 32_766;
const KERNEL_DEFAULT_PRIORITY = 32_767;
/** The policy rules that the kernel gives a new namespace, except the rule for the namespace's own addresses. */
const NEW_PRIORITIES: Readonly<Record<Family, readonly number[]>> = {
  4: [KERNEL_MAIN_PRIORITY, KERNEL_DEFAULT_PRIORITY],
  6: [KERNEL_MAIN_PRIORITY],
};

/**
 * Makes the device match the document. Returns the number of repaired differences.
 * @param links what `ip -j link` prints in the router
 */
export async function setOverlay(place: OverlayPlace, document: NetworkDocument, links: string): Promise<number> {
  const { namespace, underlay_address, ip } = place;
  const present = linksOf(links);
  const link = present.find(({ ifname }) => ifname === OVERLAY_DEVICE);
  if (link !== undefined && link.address === routerMac(underlay_address)) {
    const are_up = present.every(({ ifname, flags }) => !SET_UP.has(ifname) || flags.includes("UP"));
    if (link.mtu === document.mtu && are_up) return 0;
    await setUp(place, document);
    return 1;
  }
  // The node's underlay address has changed.
  if (link !== undefined) await ip("-n", namespace, "link", "del", "dev", OVERLAY_DEVICE);
  const printed = await Promise.all(FAMILIES.map((family) => ip("-n", namespace, "-j", `-${family}`, "rule")));
  return await addDevice(place, document, (family) => prioritiesOf(printed[FAMILIES.indexOf(family)]!));
}

/** Adds the device to a new namespace. Returns the number of differences that it repaired: one. */
export function addOverlay(place: OverlayPlace, document: NetworkDocument): Promise<number> {
  return addDevice(place, document, (family) => new Set(NEW_PRIORITIES[family]));
}

async function addDevice(
  place: OverlayPlace,
  document: NetworkDocument,
  prioritiesIn: (family: Family) => ReadonlySet<number>,
): Promise<number> {
  const { namespace, underlay_address, onHost, inside, batch } = place;
  await inside(["sysctl", "-qw", ...SYSCTLS]);
  for (const family of FAMILIES) {
    const priorities = prioritiesIn(family);
    await batch(["ip", "-n", namespace, `-${family}`], [
      ...(priorities.has(MAIN_RULE_PRIORITY) ? [] : [`rule add pref ${MAIN_RULE_PRIORITY} lookup main`]),
      ...NEW_PRIORITIES[family].filter((each) => priorities.has(each)).map((each) => `rule del pref ${each}`),
    ]);
  }
  // The device is created in the namespace of the host, because its packets leave from the namespace in which it was
  // created.
  await onHost(
    ...["link", "add", OVERLAY_DEVICE, "netns", namespace, "address", routerMac(underlay_address)],
    ...["type", "vxlan", "id", String(document.vni), "dstport", String(VXLAN_PORT)],
    ...["local", underlay_address, "nolearning", "ttl", "64"],
  );
  await setUp(place, document);
  return 1;
}

async function setUp({ namespace, batch }: OverlayPlace, { mtu }: NetworkDocument): Promise<void> {
  await batch(["ip", "-n", namespace], [
    "link set lo up",
    // The kernel must not choose an address for the device, because other nodes know only the router's own address.
    `link set ${OVERLAY_DEVICE} mtu ${mtu} addrgenmode none`,
    `link set ${OVERLAY_DEVICE} up`,
  ]);
}

function prioritiesOf(printed: string): ReadonlySet<number> {
  return new Set((JSON.parse(printed) as { priority: number }[]).map(({ priority }) => priority));
}
