// Writes the configuration that a guest reads at its first boot, in the form NoCloud of cloud-init: three files on a
// volume with the label CIDATA.
import type { Blueprint } from "../../src/contract/job.ts";
import { formatIp, parseCidr } from "../../src/lib/net/ip-address.ts";
import { METADATA_IPV4, METADATA_IPV6 } from "../network/names.ts";
import { fatVolume } from "./fat-volume.ts";

export type SeedPlan =
  & Pick<Blueprint, "nics" | "subnets" | "ssh_public_keys" | "user_data">
  & { readonly instance: { readonly id: string; readonly name: string } };

/** The volume's label, by which guests find it. */
export const LABEL = "CIDATA";
/** The MTUs inside VPCs in bytes, by VPC id. */
export type VpcMtus = ReadonlyMap<string, number>;
/** The MTU of a NIC whose VPC's MTU is unknown: the 1,500 bytes of Ethernet less 50 bytes for the overlay's header. */
const MTU_DEFAULT_BYTES = 1_450;
/** The gateway of every IPv6 subnet. */
const GATEWAY_IPV6 = "fe80::1";
const CLOUD_CONFIG = "#cloud-config";

export function seedVolume(plan: SeedPlan, mtus: VpcMtus): Uint8Array {
  return fatVolume(LABEL, seedFiles(plan, mtus));
}

/** Returns the files by name. */
export function seedFiles(plan: SeedPlan, mtus: VpcMtus): Readonly<Record<string, string>> {
  const { instance, ssh_public_keys, user_data } = plan;
  const meta_data = {
    "instance-id": instance.id,
    "local-hostname": hostnameOf(instance.name),
    "public-keys": ssh_public_keys,
  };
  return {
    // JSON is valid YAML.
    "meta-data": `${JSON.stringify(meta_data, null, 1)}\n`,
    "user-data": userData(user_data, ssh_public_keys),
    "network-config": networkConfig(plan, mtus),
  };
}

/**
 * Returns a hostname that is made from an instance's name. A hyphen replaces the characters that a hostname may not
 * have.
 */
function hostnameOf(name: string): string {
  const host = name.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 63);
  return host === "" ? "instance" : host;
}

/**
 * Adds the keys to a tenant's user data if it is empty, or is cloud-config in block YAML without SSH keys. Does not
 * change other user data; the guest then takes the keys from the meta-data.
 */
export function userData(given: string | null, keys: readonly string[]): string {
  const line = `ssh_authorized_keys: ${JSON.stringify(keys)}\n`;
  if (given === null || given.trim() === "") return `${CLOUD_CONFIG}\n${keys.length === 0 ? "" : line}`;
  if (keys.length === 0 || !isPlainCloudConfig(given)) return given;
  return `${given}${given.endsWith("\n") ? "" : "\n"}${line}`;
}

function isPlainCloudConfig(text: string): boolean {
  const [first = "", ...lines] = text.split(/\r?\n/);
  if (first.trimEnd() !== CLOUD_CONFIG || lines.some((line) => /^(?:---|\.\.\.|ssh_authorized_keys\b)/.test(line))) {
    return false;
  }
  const content = lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return content.every((line) => /^[A-Za-z_][\w-]*\s*:(?:\s|$)|^\s|^- /.test(line)) &&
    (content[0] === undefined || !/^[\s-]/.test(content[0]));
}

/**
 * Returns the file network-config, which sets the addresses of each NIC. Only the first NIC has default routes and the
 * router's DNS server.
 */
export function networkConfig({ nics, subnets }: Pick<SeedPlan, "nics" | "subnets">, mtus: VpcMtus): string {
  const blocks = new Map(subnets.map((subnet) => [subnet.id, subnet]));
  const ethernets = nics.map((nic, index) => {
    const block = blocks.get(nic.subnet_id)?.ipv4_block ?? null;
    const ipv4 = nic.primary_ipv4 === null || block === null ? null : ipv4Of(nic.primary_ipv4, block);
    const ipv6 = nic.primary_ipv6;
    const addresses = [...ipv4 === null ? [] : [ipv4.address], ...ipv6 === null ? [] : [`${ipv6}/128`]];
    const routes = [
      ...ipv4 === null ? [] : ['      - to: "0.0.0.0/0"', `        via: ${quoted(ipv4.gateway)}`],
      ...ipv6 === null ? [] : ['      - to: "::/0"', `        via: ${quoted(GATEWAY_IPV6)}`, "        on-link: true"],
    ];
    return [
      `  nic${index}:`,
      `    match: {macaddress: ${quoted(nic.mac)}}`,
      `    set-name: eth${index}`,
      `    mtu: ${mtus.get(nic.vpc_id) ?? MTU_DEFAULT_BYTES}`,
      ...addresses.length === 0 ? [] : ["    addresses:", ...addresses.map((each) => `      - ${quoted(each)}`)],
      ...index > 0 || routes.length === 0 ? [] : ["    routes:", ...routes],
      ...index > 0 || routes.length === 0 ? [] : nameservers(ipv4 === null ? METADATA_IPV6 : METADATA_IPV4),
    ].join("\n");
  });
  return ["version: 2", ethernets.length === 0 ? "ethernets: {}" : "ethernets:", ...ethernets, ""].join("\n");
}

function nameservers(address: string): string[] {
  return ["    nameservers:", `      addresses: [${quoted(address)}]`];
}

/** Returns an address with its subnet's prefix, and the subnet's gateway: its first host address. */
function ipv4Of(address: string, block: string): { readonly address: string; readonly gateway: string } | null {
  const cidr = parseCidr(block);
  if (cidr === null || cidr.family !== 4) return null;
  return { address: `${address}/${cidr.prefix}`, gateway: formatIp({ family: 4, value: cidr.network + 1n }) };
}

/** Returns the text as a double-quoted scalar of YAML; JSON has the same form. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
