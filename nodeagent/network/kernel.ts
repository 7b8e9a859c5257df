// Applies network documents to the kernel. Each VPC is a router namespace. Every step looks at what is there first, so
// an agent that was killed anywhere continues with the next call, and an equal document changes nothing.
import { execFile } from "node:child_process";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { changesOf } from "./changes.ts";
import { EXTERNAL_DEVICE, GATEWAY_MAC, OVERLAY_DEVICE, routerMac, tapName, VXLAN_PORT } from "./names.ts";
import { hasExternal, observedState, tapsOf } from "./observed-state.ts";
import { FAMILIES, type RouterState, wantedState } from "./router-state.ts";
import { rulesetOf } from "./ruleset.ts";
import { underlayRuleset } from "./underlay.ts";

/** Where the node's own devices are, and the names of its router namespaces. */
export type NodePlace = {
  /** The namespace of the node's own devices. Null is the agent's own namespace. */
  readonly host_namespace: string | null;
  /** Prefix of the router namespaces; the VNI follows. */
  readonly prefix: string;
  readonly underlay_address: string;
};

/** Runs a program and returns its output. Throws an Error with what the program wrote to its error output. */
export type Run = (argv: readonly string[], input?: string) => Promise<string>;

/** The result of an application. */
export type Applied = {
  /** Lines that changed addresses, neighbours, rules and routes. 0 if the router was as the document wants it. */
  readonly changes: number;
  readonly ruleset_replaced: boolean;
};

export type KernelNetwork = ReturnType<typeof kernelNetwork>;

/** Time limit of one command. Programming 2,000 NICs takes 0.3 s. */
const COMMAND_LIMIT_MS = 30_000;
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
export function kernelNetwork(place: NodePlace, run: Run = runProgram) {
  /** The rulesets as the kernel listed them after this process had set them, by namespace. */
  const listed = new Map<string, { readonly text: string; readonly listing: string }>();
  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  const onHost = (...words: readonly string[]) =>
    place.host_namespace === null ? ip(...words) : ip("-n", place.host_namespace, ...words);
  const namespaceOf = (vni: number) => `${place.prefix}${vni}`;
  const inside = (namespace: string, argv: readonly string[], input?: string) =>
    run(["ip", "netns", "exec", namespace, ...argv], input);

  /** Makes the router of a VPC equal to the document. The firewall is in force before the first route. */
  async function apply(document: NetworkDocument): Promise<Applied> {
    const namespace = namespaceOf(document.vni);
    if (!(await namespaces()).has(namespace)) await ip("netns", "add", namespace);
    let links = await ip("-n", namespace, "-j", "link");
    if (!hasDevice(links, OVERLAY_DEVICE)) await addOverlay(namespace, document);
    if (document.external !== null) await addExternal(namespace, document, hasExternal(links));
    else if (hasExternal(links)) await ip("-n", namespace, "link", "del", EXTERNAL_DEVICE);
    links = await ip("-n", namespace, "-j", "link");
    const taps = tapsOf(links);
    const ruleset_replaced = await setRuleset(namespace, rulesetOf(document, taps));
    await setTaps(namespace, document, links);
    const changes = changesOf(await observe(namespace), wantedState(document, place.underlay_address, taps));
    await batch(["bridge", "-n", namespace], changes.bridge);
    // IPv6 first: IPv4 routes lead over IPv6 neighbours.
    for (const family of FAMILIES.toReversed()) {
      await batch(["ip", "-n", namespace, `-${family}`], changes.ip[family]);
    }
    await Promise.all(changes.announced.map((address) => announce(namespace, address)));
    return { changes: changes.bridge.length + changes.ip[4].length + changes.ip[6].length, ruleset_replaced };
  }

  /** Removes the routers of all VPCs but these. Returns the VNIs of the removed ones. */
  async function keepOnly(vnis: ReadonlySet<number>): Promise<readonly number[]> {
    const mine = [...await namespaces()].flatMap((name) => {
      const vni = name.startsWith(place.prefix) ? name.slice(place.prefix.length) : "";
      return /^\d+$/.test(vni) ? [Number(vni)] : [];
    });
    const removed = mine.filter((vni) => !vnis.has(vni));
    for (const vni of removed) {
      listed.delete(namespaceOf(vni));
      await ip("netns", "del", namespaceOf(vni));
    }
    return removed;
  }

  /**
   * Ends the connections of the document's NICs on this node, so that a rule that took rights away holds for open ones,
   * too. The kernel treats the next packet of each as new, so an allowed connection continues.
   */
  async function forgetConnections(document: NetworkDocument): Promise<void> {
    const addresses = document.local_nics.flatMap(({ ipv4, ipv6, floating_ips }) => [ipv4, ipv6, ...floating_ips])
      .filter((address) => address !== null);
    for (const address of addresses) {
      for (const side of ["--orig-src", "--orig-dst", "--reply-src"]) {
        const family = address.includes(":") ? "ipv6" : "ipv4";
        // conntrack fails if there is nothing to delete.
        await inside(namespaceOf(document.vni), ["conntrack", "-D", "-f", family, side, address]).catch(() => {});
      }
    }
  }

  /** Lets only these nodes send packets of VPCs to this node. */
  async function acceptNodes(underlay_addresses: readonly string[]): Promise<void> {
    const argv = ["nft", "-f", "-"];
    const ruleset = underlayRuleset(underlay_addresses);
    if (place.host_namespace === null) await run(argv, ruleset);
    else await inside(place.host_namespace, argv, ruleset);
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

  async function addExternal(
    namespace: string,
    { vni, external }: NetworkDocument,
    present: boolean,
  ): Promise<void> {
    const outer = `x${vni}`;
    if (!present) {
      await onHost("link", "add", outer, "type", "veth", "peer", "name", EXTERNAL_DEVICE, "netns", namespace);
      await inside(namespace, [
        ...["sysctl", "-qw", `net.ipv4.conf.${EXTERNAL_DEVICE}.arp_ignore=1`],
        `net.ipv4.conf.${EXTERNAL_DEVICE}.arp_announce=2`,
      ]);
    }
    await onHost("link", "set", outer, "master", external?.bridge ?? "", "up");
    await ip("-n", namespace, "link", "set", EXTERNAL_DEVICE, "up");
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
    await inside(namespace, ["nft", "-f", "-"], text);
    listed.set(namespace, { text, listing: await listing(namespace) });
    return true;
  }

  /** Lists the ruleset without its counters. */
  function listing(namespace: string): Promise<string> {
    return inside(namespace, ["nft", "-s", "list", "ruleset"]);
  }

  async function observe(namespace: string): Promise<RouterState> {
    const json = (...words: readonly string[]) => ip("-n", namespace, "-j", ...words);
    const [addresses, neighbours, forwardings, rules4, rules6, routes4, routes6] = await Promise.all([
      json("addr"),
      json("neigh", "show", "nud", "permanent"),
      run(["bridge", "-n", namespace, "-j", "fdb", "show", "dev", OVERLAY_DEVICE]),
      json("-4", "rule"),
      json("-6", "rule"),
      json("-4", "route", "show", "table", "all"),
      json("-6", "route", "show", "table", "all"),
    ]);
    return observedState({
      ...{ addresses, neighbours, forwardings },
      rules: { 4: rules4, 6: rules6 },
      routes: { 4: routes4, 6: routes6 },
    });
  }

  async function namespaces(): Promise<ReadonlySet<string>> {
    const printed = await ip("netns", "list");
    return new Set(printed.split("\n").map((line) => line.split(" ")[0] ?? "").filter((name) => name !== ""));
  }

  async function batch(argv: readonly string[], lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await run([...argv, "-batch", "-"], `${lines.join("\n")}\n`);
  }

  /** Announces the address to the external network. Announcements have no answer. */
  async function announce(namespace: string, address: string): Promise<void> {
    if (address.includes(":")) return; // The kernel announces an IPv6 address itself (ndisc_notify).
    const argv = ["arping", "-q", "-U", "-c", String(ANNOUNCEMENTS), "-W", "0.2", "-i", EXTERNAL_DEVICE];
    await inside(namespace, [...argv, "-S", address, address]).catch(() => {});
  }

  return { apply, keepOnly, forgetConnections, acceptNodes };
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

function hasDevice(printed: string, name: string): boolean {
  return linksOf(printed).some(({ ifname }) => ifname === name);
}

function runProgram(argv: readonly string[], input = ""): Promise<string> {
  const [program = "", ...words] = argv;
  return new Promise((done, fail) => {
    const child = execFile(program, words, { timeout: COMMAND_LIMIT_MS, maxBuffer: Infinity }, (error, out, said) => {
      if (error === null) done(out);
      else fail(new Error(`${argv.join(" ")}: ${said.trim() || error.message}`));
    });
    // A program that ends before it has read everything is reported by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
