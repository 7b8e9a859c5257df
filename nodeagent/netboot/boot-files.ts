// Reads the files that the booter sent to this machine. They are in /etc/berth of a booted Linux node image:
// boot.properties with one property per line, and networking.json in the form that SmartOS also gets.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalMac } from "../../src/lib/net/mac.ts";

export const BOOT_FOLDER = "/etc/berth";

export type BootProperties = ReadonlyMap<string, string>;

export type BootNetworking = {
  readonly hostname?: string;
  readonly resolvers: readonly string[];
  /** The networks that the admin port carries: `admin`, and the NIC tags that an operator declared. */
  readonly nictags?: readonly { readonly name: string }[];
  readonly vnics: readonly {
    readonly mac: string;
    readonly ip: string;
    readonly netmask: string;
    readonly gateway?: string;
    /** 0 for an untagged network. */
    readonly vlan_id?: number;
  }[];
  readonly aggregations: readonly {
    readonly name: string;
    readonly lacp_mode: string;
    readonly macs: readonly string[];
  }[];
};

/** Parses boot.properties. A value may be in quotes, because SmartOS needs them. */
export function parseProperties(text: string): BootProperties {
  const properties = new Map<string, string>();
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at > 0) properties.set(line.slice(0, at), line.slice(at + 1).replace(/^"(.*)"$/, "$1"));
  }
  return properties;
}

export async function readBootFiles(folder = BOOT_FOLDER) {
  const [properties, networking] = await Promise.all(
    ["boot.properties", "networking.json"].map((name) => readFile(join(folder, name), "utf8")),
  );
  return { properties: parseProperties(properties!), networking: JSON.parse(networking!) as BootNetworking };
}

/** The bridge of the admin port. A node has this bridge if the port carries more networks than the admin network. */
const TRUNK = "trunk";
const ADMIN_TAG = "admin";
/** The device of a tagged admin network. */
const ADMIN_VLAN = "admin-vlan";

/**
 * Returns the value of the agent's option --nic-tags, or null if the admin port carries only the admin network. The
 * other networks are VLANs of the port, so gateways and floating IPs get their devices on the port's bridge.
 */
export function nicTagsOption({ nictags = [] }: BootNetworking): string | null {
  const others = nictags.map(({ name }) => name).filter((name) => name !== ADMIN_TAG);
  return others.length === 0 ? null : [ADMIN_TAG, ...others.map((name) => `${name}:${TRUNK}`)].join(",");
}

/**
 * Returns the files of systemd-networkd for each part of the network: the port or the bond, a bridge if the port
 * carries several networks, a VLAN if the admin network is tagged, and the admin address. Also returns resolv.conf.
 */
export function networkFiles(networking: BootNetworking): ReadonlyMap<string, string> {
  const { vnics, resolvers, aggregations } = networking;
  const files = new Map<string, string>();
  const [admin] = vnics;
  if (admin === undefined) throw new Error("networking.json: has no vnics");
  const mac = canonicalMac(admin.mac);
  if (mac === null) throw new Error("networking.json: vnics[0].mac is not a MAC address");
  const [aggregate] = aggregations;
  const address = [
    "[Network]",
    `Address=${admin.ip}/${prefixLength(admin.netmask)}`,
    ...(admin.gateway === undefined ? [] : [`Gateway=${admin.gateway}`]),
    "LinkLocalAddressing=ipv6",
    "",
  ].join("\n");
  // A tagged admin network is a VLAN of the port, the bond or the bridge.
  const tag = admin.vlan_id ?? 0;
  if (tag !== 0) {
    files.set("30-vlan.netdev", `[NetDev]\nName=${ADMIN_VLAN}\nKind=vlan\n\n[VLAN]\nId=${tag}\n`);
    files.set("30-vlan.network", `[Match]\nName=${ADMIN_VLAN}\n\n${address}`);
  }
  const top = tag === 0 ? address : `[Network]\nVLAN=${ADMIN_VLAN}\nLinkLocalAddressing=no\n`;
  const has_trunk = nicTagsOption(networking) !== null;
  // The bridge gets the MAC address of the port. By default, systemd generates one.
  if (has_trunk) files.set("10-trunk.netdev", `[NetDev]\nName=${TRUNK}\nKind=bridge\nMACAddress=${mac}\n`);
  if (has_trunk) files.set("20-trunk.network", `[Match]\nName=${TRUNK}\n\n${top}`);
  const admin_network = has_trunk ? `[Network]\nBridge=${TRUNK}\n` : top;
  if (aggregate === undefined) {
    files.set("10-admin.network", `[Match]\nPermanentMACAddress=${mac}\n\n${admin_network}`);
  } else {
    const mode = aggregate.lacp_mode === "off" ? "balance-xor" : "802.3ad";
    const bond = mode === "802.3ad" ? "LACPTransmitRate=fast\n" : "";
    files.set(
      "10-bond.netdev",
      `[NetDev]\nName=${aggregate.name}\nKind=bond\nMACAddress=${mac}\n\n[Bond]\nMode=${mode}\nMIIMonitorSec=1s\n${bond}`,
    );
    files.set(
      "10-members.network",
      `[Match]\nPermanentMACAddress=${aggregate.macs.join(" ")}\n\n[Network]\nBond=${aggregate.name}\n`,
    );
    files.set("20-admin.network", `[Match]\nName=${aggregate.name}\n\n${admin_network}`);
  }
  files.set("resolv.conf", resolvers.map((each) => `nameserver ${each}\n`).join(""));
  return files;
}

function prefixLength(netmask: string): number {
  return netmask.split(".").reduce((sum, part) => sum + Number(part).toString(2).replaceAll("0", "").length, 0);
}

/** Returns the text of /etc/shadow with root's password hash; null locks the password. */
export function shadowWithRoot(shadow: string, hash: string | null): string {
  return shadow.split("\n").map((line) => {
    const [name, , ...rest] = line.split(":");
    return name === "root" ? ["root", hash ?? "*", ...rest].join(":") : line;
  }).join("\n");
}
