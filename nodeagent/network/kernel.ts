// Applies network documents to the kernel. Each VPC has a router on the node: a network namespace of its own. By
// default, `apply` compares the document with the kernel's state. So an agent may be killed at any point: the next call
// completes the work. The first call of a process replaces the ruleset in any case. A later call changes nothing if the
// router already matches the document. To read the kernel's state, `apply` starts several programs, and each takes
// about 10 ms. With `trusts_last`, `apply` does not read the state: it applies only the differences from the last
// document that this process applied. It still reads the state if the last call failed, if the devices change, or if
// one of its commands fails.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { type Changes, changesOf, leaseLine } from "./changes.ts";
import { type ExternalPlace, portName, setExternal } from "./external-device.ts";
import { EXTERNAL_DEVICE, GATEWAY_MAC, OVERLAY_DEVICE, tapName } from "./names.ts";
import { addOverlay, type OverlayPlace, setOverlay } from "./overlay-device.ts";
import type { Applied, AttachedTaps, NetworkDriver, RouterState, TapBytes } from "./network-driver.ts";
import { observeRouter } from "./observe.ts";
import { addressesOf, linksOf, tapBytesOf, tapsOf } from "./observed-state.ts";
import { type Run, runProgram } from "./run.ts";
import { type RouterFirewall, routerFirewall } from "./router-firewall.ts";
import { EMPTY_STATE, FAMILIES, familyOf, wantedState } from "./router-state.ts";
import { NO_UNDERLAY_FILTER, type Senders, underlayRuleset } from "./underlay.ts";

/** Where the node's own devices are, and the names of its router namespaces. */
export type NodePlace = {
  /** The namespace of the node's own devices. Null is the agent's own namespace. */
  readonly host_namespace: string | null;
  /** Prefix of the router namespaces; the VNI follows. */
  readonly prefix: string;
  /** The node's address on the underlay, for documents that contain no underlay address. */
  readonly underlay_address: string;
};

export type KernelNetwork = NetworkDriver & { readonly place: NodePlace };

/** Announcements of a public address: three, so that one lost packet does not matter. */
const ANNOUNCEMENTS = 3;

/** The links of a new namespace, as `ip -j` prints them, without the loopback device. */
const NO_LINKS = "[]";

/** Creates the kernel driver of a node. */
export function kernelNetwork(place: NodePlace, run: Run = runProgram): KernelNetwork {
  const firewalls = new Map<string, RouterFirewall>();
  /** The routers whose external device this process has compared, by namespace. */
  const compared = new Set<string>();
  /** The last application of this process, by namespace. A router whose last application failed has no entry. */
  const made = new Map<string, Made>();
  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  const onHostRun = (program: "ip" | "bridge", ...words: readonly string[]) =>
    run([program, ...place.host_namespace === null ? [] : ["-n", place.host_namespace], ...words]);
  const onHost = (...words: readonly string[]) => onHostRun("ip", ...words);
  const namespaceOf = (vni: number) => `${place.prefix}${vni}`;
  const inside = (namespace: string, argv: readonly string[], input?: string) =>
    run(["ip", "netns", "exec", namespace, ...argv], input);

  function firewallOf(namespace: string): RouterFirewall {
    const firewall = firewalls.get(namespace) ?? routerFirewall((argv, input) => inside(namespace, argv, input), run);
    firewalls.set(namespace, firewall);
    return firewall;
  }

  const apply: NetworkDriver["apply"] = async (document, attached = new Map(), { trusts_last = false } = {}) => {
    const namespace = namespaceOf(document.vni);
    const last = made.get(namespace);
    // After a failure the kernel's state is unknown.
    made.delete(namespace);
    const has_changed_only = trusts_last && last !== undefined && hasSameDevices(last, document, attached);
    // If another process changed the router, a command may fail. The complete comparison then repairs the router.
    const changed = has_changed_only ? await change(namespace, last, document).catch(() => null) : null;
    const done = changed ?? await compare(namespace, document, attached);
    made.set(namespace, done.made);
    return done.applied;
  };

  /** Compares the router with the document, and applies the differences. */
  async function compare(namespace: string, document: NetworkDocument, attached: AttachedTaps): Promise<Compared> {
    const is_new = await createNamespace(namespace);
    let links = is_new ? NO_LINKS : await ip("-n", namespace, "-j", "-d", "link");
    const repaired = is_new
      ? await addOverlay(overlayPlace(namespace, document), document)
      : await setOverlay(overlayPlace(namespace, document), document, links);
    const has_moved = await moveTaps(namespace, document, attached, tapsOf(links));
    const is_first = !compared.has(namespace);
    await setExternal({ ...externalPlace(namespace, document), is_first }, links, document.external);
    compared.add(namespace);
    if (has_moved) links = await ip("-n", namespace, "-j", "link");
    const taps = tapsOf(links);
    const firewall = firewallOf(namespace);
    const ruleset_replaced = await (is_new ? firewall.begin : firewall.check)(document, taps);
    await setTaps(namespace, document, links);
    const observed = is_new ? EMPTY_STATE : await observeRouter(namespace, run);
    const wanted = wantedState(document, place.underlay_address, taps);
    const changes = changesOf(observed, wanted);
    await execute(namespace, changes);
    return { made: { document, taps, wanted }, applied: { changes: countOf(changes) + repaired, ruleset_replaced } };
  }

  /** Applies the differences between two documents to a router that matches the first document. */
  async function change(
    namespace: string,
    { taps, wanted: before }: Made,
    document: NetworkDocument,
  ): Promise<Compared> {
    const ruleset_replaced = await firewallOf(namespace).change(document, taps);
    const wanted = wantedState(document, place.underlay_address, taps);
    const changes = changesOf(before, wanted);
    await execute(namespace, changes);
    return { made: { document, taps, wanted }, applied: { changes: countOf(changes), ruleset_replaced } };
  }

  async function execute(namespace: string, changes: Changes): Promise<void> {
    await batch(["bridge", "-n", namespace], changes.bridge);
    // IPv6 first, because IPv4 routes use IPv6 next hops.
    for (const family of FAMILIES.toReversed()) {
      await batch(["ip", "-n", namespace, `-${family}`], changes.ip[family]);
    }
    await Promise.all(changes.announced.map((address) => announce(namespace, address)));
  }

  function overlayPlace(namespace: string, document: NetworkDocument): OverlayPlace {
    const { underlay_address = place.underlay_address } = document;
    return { underlay_address, namespace, onHost, inside: (argv) => inside(namespace, argv), batch, ip };
  }

  function externalPlace(namespace: string, { vni }: NetworkDocument): Omit<ExternalPlace, "is_first"> {
    return { vni, namespace, onHost: onHostRun, inside: (...argv) => inside(namespace, argv) };
  }

  /** Creates a router's namespace unless it exists. Returns whether it is new. */
  async function createNamespace(name: string): Promise<boolean> {
    if (await ip("-n", name, "link", "show", "dev", "lo").then(() => true, () => false)) return false;
    await ip("netns", "add", name).catch(async () => {
      // A crash between the creation of the name and the mount leaves a name that no program can enter.
      await ip("netns", "del", name);
      await ip("netns", "add", name);
    });
    return true;
  }

  /**
   * Moves the taps of running VMs into the router. QEMU keeps its tap open while the tap moves. Returns whether any tap
   * moved.
   */
  async function moveTaps(
    namespace: string,
    { local_nics }: NetworkDocument,
    attached: AttachedTaps,
    present: ReadonlySet<string>,
  ): Promise<boolean> {
    const missing = local_nics.filter(({ mac }) => attached.has(mac) && !present.has(tapName(mac)));
    for (const { mac } of missing) {
      await ip("-n", attached.get(mac)!, "link", "set", "dev", tapName(mac), "netns", namespace);
    }
    return missing.length > 0;
  }

  async function holdGateways(vni: number, addresses: readonly string[], left_s: number): Promise<void> {
    const namespace = namespaceOf(vni);
    const present = addressesOf(await ip("-n", namespace, "-j", "addr", "show", "dev", EXTERNAL_DEVICE));
    // The lease may end while a command runs. So before the server gives the gateways to another node, it also waits
    // for the time limit of a command. It waits for only one limit, because the commands of both families run at the
    // same time.
    await Promise.all(FAMILIES.map((family) => {
      const lines = addresses.filter((each) => familyOf(each) === family).map((each) => leaseLine(each, left_s));
      return batch(["ip", "-n", namespace, `-${family}`], lines);
    }));
    const announced = addresses.filter((each) => familyOf(each) === 4 && !present.has(each));
    await Promise.all(announced.map((address) => announce(namespace, address)));
  }

  async function removeTap(vni: number, mac: string): Promise<void> {
    const namespace = namespaceOf(vni);
    made.delete(namespace);
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
    const is_as_set = await firewallOf(namespace).isAsSet();
    return { taps, differences: countOf(changes) + (is_as_set ? 0 : 1) };
  }

  async function keepOnly(vnis: ReadonlySet<number>): Promise<readonly number[]> {
    const mine = [...await namespaces()].flatMap((name) => {
      const vni = name.startsWith(place.prefix) ? name.slice(place.prefix.length) : "";
      return /^\d+$/.test(vni) ? [Number(vni)] : [];
    });
    const removed = mine.filter((vni) => !vnis.has(vni));
    for (const vni of removed) {
      firewalls.delete(namespaceOf(vni));
      compared.delete(namespaceOf(vni));
      made.delete(namespaceOf(vni));
      // The kernel removes the devices of a namespace some time after the namespace itself. Their VNI stays in use
      // until then, so the devices are removed first.
      await onHost("link", "del", portName(vni)).catch(() => {});
      await ip("-n", namespaceOf(vni), "link", "del", OVERLAY_DEVICE).catch(() => {});
      await ip("netns", "del", namespaceOf(vni));
    }
    if (vnis.size === 0) await setUnderlayFilter(NO_UNDERLAY_FILTER);
    return removed;
  }

  async function acceptSenders(senders: Senders): Promise<void> {
    await setUnderlayFilter(underlayRuleset(senders));
  }

  async function setUnderlayFilter(ruleset: string): Promise<void> {
    const argv = ["nft", "-f", "-"];
    if (place.host_namespace === null) await run(argv, ruleset);
    else await inside(place.host_namespace, argv, ruleset);
  }

  /**
   * Sets up each tap that is down, or has a wrong MAC or MTU. Such a tap gets the gateway's MAC, the document's MTU and
   * the settings of a routed port.
   */
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
        // The router answers ARP requests for addresses of other machines at once. By default, the kernel waits up to
        // 0.8 s.
        `net.ipv4.neigh.${tap}.proxy_delay=0`,
      ]),
    ]);
    await batch(["ip", "-n", namespace], fresh.map((tap) => `link set ${tap} address ${GATEWAY_MAC} mtu ${mtu} up`));
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

  const ruleCounts = (vni: number) => firewallOf(namespaceOf(vni)).counts();
  return {
    ...{ place, carries_packets: true, apply, holdGateways, removeTap, tapBytes, ruleCounts, inspect },
    ...{ keepOnly, acceptSenders },
  };
}

/** A router as this process left it. */
type Made = {
  readonly document: NetworkDocument;
  readonly taps: ReadonlySet<string>;
  readonly wanted: ReturnType<typeof wantedState>;
};
type Compared = { readonly made: Made; readonly applied: Applied };

/** Returns whether a newer document needs the devices that the router has: overlay, external network and taps. */
function hasSameDevices({ document: last, taps }: Made, next: NetworkDocument, attached: AttachedTaps): boolean {
  const known = new Set(last.local_nics.map(({ mac }) => mac));
  return last.vpc_id === next.vpc_id && last.mtu === next.mtu && last.underlay_address === next.underlay_address &&
    JSON.stringify(last.external) === JSON.stringify(next.external) &&
    next.local_nics.every(({ mac }) => taps.has(tapName(mac)) ? known.has(mac) : !attached.has(mac));
}

function countOf({ bridge, ip }: Changes): number {
  return bridge.length + ip[4].length + ip[6].length;
}
