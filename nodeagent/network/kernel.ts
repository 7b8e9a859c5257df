// Applies network documents to the kernel. Each VPC is a router namespace. Every step reads the kernel's state first, so
// an agent that was killed anywhere continues with the next call, and an equal document changes nothing.
import type { NetworkDocument, RuleCount } from "../../src/contract/network-document.ts";
import { changesOf } from "./changes.ts";
import { markLines, parseConnections } from "./connections.ts";
import { type ExternalPlace, portName, setExternal } from "./external-device.ts";
import { EXTERNAL_DEVICE, GATEWAY_MAC, OVERLAY_DEVICE, routerMac, tapName, VXLAN_PORT } from "./names.ts";
import type { Applied, AttachedTaps, NetworkDriver, RouterState, TapBytes } from "./network-driver.ts";
import { observeRouter } from "./observe.ts";
import { tapBytesOf, tapsOf } from "./observed-state.ts";
import { type Run, runProgram } from "./run.ts";
import { ruleCountsOf, withCounts } from "./rule-counts.ts";
import { FAMILIES, wantedState } from "./router-state.ts";
import { rulesetOf } from "./ruleset.ts";
import { NO_UNDERLAY_FILTER, underlayRuleset } from "./underlay.ts";

/** Where the node's own devices are, and the names of its router namespaces. */
export type NodePlace = {
  /** The namespace of the node's own devices. Null is the agent's own namespace. */
  readonly host_namespace: string | null;
  /** Prefix of the router namespaces; the VNI follows. */
  readonly prefix: string;
  readonly underlay_address: string;
};

export type KernelNetwork = NetworkDriver & { readonly place: NodePlace };

/** Announcements of a public address: three, so that one lost packet does not matter. */
const ANNOUNCEMENTS = 3;

/** The settings of a router namespace. Interface names do not exist yet when `default` is set. */
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

/** The rule for the main table takes the place of the kernel's own, so that rules with higher numbers come after it. */
const MAIN_RULE_PRIORITY = 300;
const KERNEL_MAIN_PRIORITY = 32_766;
const KERNEL_DEFAULT_PRIORITY = 32_767;

/** Creates the kernel driver of a node. */
export function kernelNetwork(place: NodePlace, run: Run = runProgram): KernelNetwork {
  /** The rulesets as the kernel listed them after this process had set them, by namespace. */
  const listed = new Map<string, { readonly text: string; readonly listing: string }>();
  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  const onHostRun = (program: "ip" | "bridge", ...words: readonly string[]) =>
    run([program, ...place.host_namespace === null ? [] : ["-n", place.host_namespace], ...words]);
  const onHost = (...words: readonly string[]) => onHostRun("ip", ...words);
  const namespaceOf = (vni: number) => `${place.prefix}${vni}`;
  const inside = (namespace: string, argv: readonly string[], input?: string) =>
    run(["ip", "netns", "exec", namespace, ...argv], input);

  async function apply(document: NetworkDocument, attached: AttachedTaps = new Map()): Promise<Applied> {
    const namespace = namespaceOf(document.vni);
    await createNamespace(namespace);
    let links = await ip("-n", namespace, "-j", "-d", "link");
    const repaired = await setOverlay(namespace, document, links);
    await moveTaps(namespace, document, attached, tapsOf(links));
    await setExternal(externalPlace(namespace, document), links, document.external);
    links = await ip("-n", namespace, "-j", "link");
    const taps = tapsOf(links);
    const ruleset_replaced = await setRuleset(namespace, rulesetOf(document, taps));
    if (ruleset_replaced) await endForbidden(namespace, document);
    await setTaps(namespace, document, links);
    const changes = changesOf(await observeRouter(namespace, run), wantedState(document, place.underlay_address, taps));
    await batch(["bridge", "-n", namespace], changes.bridge);
    // IPv6 first, because IPv4 routes use IPv6 next hops.
    for (const family of FAMILIES.toReversed()) {
      await batch(["ip", "-n", namespace, `-${family}`], changes.ip[family]);
    }
    await Promise.all(changes.announced.map((address) => announce(namespace, address)));
    const count = changes.bridge.length + changes.ip[4].length + changes.ip[6].length;
    return { changes: count + repaired, ruleset_replaced };
  }

  function externalPlace(namespace: string, { vni }: NetworkDocument): ExternalPlace {
    return { vni, namespace, onHost: onHostRun, inside: (...argv) => inside(namespace, argv) };
  }

  async function createNamespace(name: string): Promise<void> {
    if ((await namespaces()).has(name)) {
      const is_usable = await ip("-n", name, "link", "show", "dev", "lo").then(() => true, () => false);
      if (is_usable) return;
      // A crash between the name and its mount leaves a name that no program can enter.
      await ip("netns", "del", name);
    }
    await ip("netns", "add", name);
  }

  /** Moves the taps of running VMs into the router. QEMU keeps its tap open while the tap moves. */
  async function moveTaps(
    namespace: string,
    { local_nics }: NetworkDocument,
    attached: AttachedTaps,
    present: ReadonlySet<string>,
  ): Promise<void> {
    for (const { mac } of local_nics) {
      const from = attached.get(mac);
      if (from === undefined || present.has(tapName(mac))) continue;
      await ip("-n", from, "link", "set", "dev", tapName(mac), "netns", namespace);
    }
  }

  async function removeTap(vni: number, mac: string): Promise<void> {
    const namespace = namespaceOf(vni);
    if (!(await namespaces()).has(namespace)) return;
    const taps = tapsOf(await ip("-n", namespace, "-j", "link"));
    if (taps.has(tapName(mac))) await ip("-n", namespace, "link", "del", "dev", tapName(mac));
  }

  async function tapBytes(vni: number): Promise<ReadonlyMap<string, TapBytes>> {
    return await ip("-n", namespaceOf(vni), "-j", "-s", "link").then(tapBytesOf, () => new Map());
  }

  async function inspect(document: NetworkDocument): Promise<RouterState | null> {
    const namespace = namespaceOf(document.vni);
    if (!(await namespaces()).has(namespace)) return null;
    const taps = tapsOf(await ip("-n", namespace, "-j", "link"));
    const changes = changesOf(await observeRouter(namespace, run), wantedState(document, place.underlay_address, taps));
    const is_listed = listed.get(namespace)?.listing === await listing(namespace);
    const lines = [...changes.bridge, ...changes.ip[4], ...changes.ip[6]];
    return { taps, differences: lines.length + (is_listed ? 0 : 1) };
  }

  async function keepOnly(vnis: ReadonlySet<number>): Promise<readonly number[]> {
    const mine = [...await namespaces()].flatMap((name) => {
      const vni = name.startsWith(place.prefix) ? name.slice(place.prefix.length) : "";
      return /^\d+$/.test(vni) ? [Number(vni)] : [];
    });
    const removed = mine.filter((vni) => !vnis.has(vni));
    for (const vni of removed) {
      listed.delete(namespaceOf(vni));
      // The kernel removes the devices of a namespace some time after its end. Until then the VNI is taken.
      await onHost("link", "del", portName(vni)).catch(() => {});
      await ip("-n", namespaceOf(vni), "link", "del", OVERLAY_DEVICE).catch(() => {});
      await ip("netns", "del", namespaceOf(vni));
    }
    if (vnis.size === 0) await setUnderlayFilter(NO_UNDERLAY_FILTER);
    return removed;
  }

  /** Ends the open connections that the document's firewall forbids. */
  async function endForbidden(namespace: string, document: NetworkDocument): Promise<void> {
    const listings = await Promise.all(
      ["ipv4", "ipv6"].map((family) => inside(namespace, ["conntrack", "-L", "-f", family])),
    );
    const lines = markLines(document, listings.flatMap(parseConnections));
    // A connection may have ended meanwhile. conntrack then stops there, so the others are marked one by one.
    if (lines.length === 0) return;
    await inside(namespace, ["conntrack", "-R", "-"], `${lines.join("\n")}\n`).catch(async () => {
      for (const line of lines) await inside(namespace, ["conntrack", ...line.split(" ")]).catch(() => {});
    });
  }

  async function acceptNodes(underlay_addresses: readonly string[]): Promise<void> {
    await setUnderlayFilter(underlayRuleset(underlay_addresses));
  }

  async function setUnderlayFilter(ruleset: string): Promise<void> {
    const argv = ["nft", "-f", "-"];
    if (place.host_namespace === null) await run(argv, ruleset);
    else await inside(place.host_namespace, argv, ruleset);
  }

  /** Makes the overlay device match the document. Returns the number of repaired differences. */
  async function setOverlay(namespace: string, document: NetworkDocument, links: string): Promise<number> {
    const link = linksOf(links).find(({ ifname }) => ifname === OVERLAY_DEVICE);
    const is_of_this_node = link?.address === routerMac(place.underlay_address);
    if (link !== undefined && is_of_this_node) {
      if (link.mtu === document.mtu && link.flags.includes("UP")) return 0;
      await ip("-n", namespace, "link", "set", "dev", OVERLAY_DEVICE, "mtu", String(document.mtu), "up");
      return 1;
    }
    // The node's underlay address has changed.
    if (link !== undefined) await ip("-n", namespace, "link", "del", "dev", OVERLAY_DEVICE);
    await addOverlay(namespace, document);
    return 1;
  }

  async function addOverlay(namespace: string, { vni, mtu }: NetworkDocument): Promise<void> {
    await inside(namespace, ["sysctl", "-qw", ...SYSCTLS]);
    for (const family of FAMILIES) {
      const priorities = new Set(
        (JSON.parse(await ip("-n", namespace, "-j", `-${family}`, "rule")) as { priority: number }[])
          .map(({ priority }) => priority),
      );
      await batch(["ip", "-n", namespace, `-${family}`], [
        ...(priorities.has(MAIN_RULE_PRIORITY) ? [] : [`rule add pref ${MAIN_RULE_PRIORITY} lookup main`]),
        ...[KERNEL_MAIN_PRIORITY, KERNEL_DEFAULT_PRIORITY].filter((each) => priorities.has(each))
          .map((each) => `rule del pref ${each}`),
      ]);
    }
    // The packets of the overlay leave from the namespace in which the device is created: the host's.
    await onHost(
      ...["link", "add", OVERLAY_DEVICE, "netns", namespace, "address", routerMac(place.underlay_address)],
      ...["mtu", String(mtu), "type", "vxlan", "id", String(vni), "dstport", String(VXLAN_PORT)],
      ...["local", place.underlay_address, "nolearning", "ttl", "64"],
    );
    await batch(["ip", "-n", namespace], ["link set lo up", `link set ${OVERLAY_DEVICE} up`]);
  }

  /** Gives each tap that is not up yet the gateway's MAC and the settings of a routed port. */
  async function setTaps(namespace: string, { local_nics, mtu }: NetworkDocument, links: string): Promise<void> {
    const present = new Map(linksOf(links).map((link) => [link.ifname, link]));
    const fresh = local_nics.map(({ mac }) => tapName(mac)).filter((tap) => {
      const link = present.get(tap);
      return link !== undefined && !(link.address === GATEWAY_MAC && link.mtu === mtu && link.flags.includes("UP"));
    });
    if (fresh.length === 0) return;
    await inside(namespace, [
      ...["sysctl", "-qw"],
      ...fresh.flatMap((tap) => [
        `net.ipv4.conf.${tap}.proxy_arp=1`,
        `net.ipv4.conf.${tap}.arp_ignore=0`,
        // By default the kernel waits up to 0.8 s before it answers for another address.
        `net.ipv4.neigh.${tap}.proxy_delay=0`,
      ]),
    ]);
    await batch(["ip", "-n", namespace], fresh.map((tap) => `link set ${tap} address ${GATEWAY_MAC} mtu ${mtu} up`));
  }

  /**
   * Replaces the ruleset unless the kernel still has it. The first call of a process always replaces it, since another
   * process's ruleset cannot be compared with a text.
   */
  async function setRuleset(namespace: string, text: string): Promise<boolean> {
    const known = listed.get(namespace);
    if (known?.text === text && known.listing === await listing(namespace)) return false;
    await inside(namespace, ["nft", "-f", "-"], withCounts(text, await countsIn(namespace)));
    listed.set(namespace, { text, listing: await listing(namespace) });
    return true;
  }

  async function countsIn(namespace: string): Promise<readonly RuleCount[]> {
    return await inside(namespace, ["nft", "list", "table", "inet", "berth"]).then(ruleCountsOf, () => []);
  }

  /** Lists the ruleset without its counters. */
  function listing(namespace: string): Promise<string> {
    return inside(namespace, ["nft", "-s", "list", "ruleset"]);
  }

  async function namespaces(): Promise<ReadonlySet<string>> {
    const printed = await ip("netns", "list");
    return new Set(printed.split("\n").map((line) => line.split(" ")[0] ?? "").filter((name) => name !== ""));
  }

  async function batch(argv: readonly string[], lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await run([...argv, "-batch", "-"], `${lines.join("\n")}\n`);
  }

  /** Announces an IPv4 address to the external network. Announcements have no answer. */
  async function announce(namespace: string, address: string): Promise<void> {
    const argv = ["arping", "-q", "-U", "-c", String(ANNOUNCEMENTS), "-W", "0.2", "-i", EXTERNAL_DEVICE];
    await inside(namespace, [...argv, "-S", address, address]).catch(() => {});
  }

  const ruleCounts = (vni: number) => countsIn(namespaceOf(vni));
  return { place, carries_packets: true, apply, removeTap, tapBytes, ruleCounts, inspect, keepOnly, acceptNodes };
}

type Link = {
  readonly ifname: string;
  readonly address: string;
  readonly mtu: number;
  readonly flags: readonly string[];
};

function linksOf(printed: string): readonly Link[] {
  return JSON.parse(printed) as Link[];
}
