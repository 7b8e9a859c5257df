// Lists the kinds of records in the manifest of a project.
import type { FirewallProtocol } from "../../../src/contract/enums.ts";
import type { Field, FieldType, ManifestKind } from "../../internal/manifest/kind.ts";
import { FIRST_NIC } from "../nic/nic.ts";

const name = { type: "text", change: "fixed", required: true } as const;
const parent = name;
/** The optional fields that every record has. */
const described = {
  description: { type: "text", change: "patch" },
  labels: { type: "object", change: "patch" },
} as const;
const block = { type: "block", change: "fixed" } as const;
const patched = (type: FieldType) => ({ type, change: "patch" }) as const;
const replaced = (type: FieldType) => ({ type, change: "replace" }) as const;
const fixed = (type: FieldType) => ({ type, change: "fixed" }) as const;
const required = <const F extends Field>(field: F) => ({ ...field, required: true }) as const;
const chosen = <const F extends Field>(field: F) => ({ ...field, chosen: true }) as const;

/** The protocol of a firewall rule that matches every protocol. */
const ANY_PROTOCOL: FirewallProtocol = "any";

export const KINDS = [
  {
    list: "ssh_keys",
    singular: "SSH key",
    path: "/v1/auth/ssh-keys",
    // SSH keys belong to the user, who may use them in other projects.
    foreign: true,
    key: ["name"],
    fields: { name, ...described, public_key: required(fixed("text")) },
  },
  {
    list: "vpcs",
    singular: "VPC",
    path: "/v1/vpcs",
    key: ["name"],
    fields: { name, ...described, ipv4_block: block, ipv6_block: block },
  },
  {
    list: "nat_gateways",
    singular: "NAT gateway",
    path: "/v1/nat-gateways",
    key: ["vpc", "name"],
    fields: {
      vpc: parent,
      name,
      ...described,
      family: chosen(fixed("text")),
      network_id: fixed("text"),
      // Hidden, because an existing gateway shows its external subnet, but not its pool.
      pool_id: { type: "text", change: "hidden" },
    },
    // The server shows UUIDs in lower case.
    complete: ({ network_id, ...rest }) =>
      typeof network_id === "string"
        ? { ...rest, network_id: network_id.toLowerCase() }
        : network_id === undefined
        ? rest
        : { ...rest, network_id },
  },
  {
    list: "floating_ips",
    singular: "floating IP",
    path: "/v1/floating-ips",
    key: ["name"],
    fields: { name, ...described, family: chosen(fixed("text")), attached_to: { type: "object", change: "step" } },
    // If an attachment names no NIC, the floating IP is attached to the first NIC.
    complete: ({ attached_to, ...rest }) =>
      typeof attached_to === "object" && attached_to !== null
        ? { ...rest, attached_to: { nic: FIRST_NIC, ...attached_to } }
        : attached_to === undefined
        ? rest
        : { ...rest, attached_to },
  },
  {
    list: "route_tables",
    singular: "route table",
    path: "/v1/route-tables",
    key: ["vpc", "name"],
    fields: { vpc: parent, name, ...described },
  },
  {
    list: "routes",
    singular: "route",
    path: "/v1/routes",
    key: ["vpc", "route_table", "name"],
    fields: {
      vpc: parent,
      route_table: parent,
      name,
      ...described,
      destination: required({ type: "block", change: "replace" }),
      target: required(replaced("object")),
    },
  },
  {
    list: "subnets",
    singular: "subnet",
    path: "/v1/subnets",
    key: ["vpc", "name"],
    fields: {
      vpc: parent,
      name,
      ...described,
      ipv4_block: block,
      ipv6_block: block,
      route_table: { type: "text", change: "step" },
    },
  },
  {
    list: "firewall_rules",
    singular: "firewall rule",
    path: "/v1/firewall-rules",
    key: ["vpc", "name"],
    fields: {
      vpc: parent,
      name,
      ...described,
      priority: required(patched("number")),
      direction: required(patched("text")),
      action: required(patched("text")),
      protocol: patched("text"),
      source_cidr: patched("block"),
      destination_cidr: patched("block"),
      source_ports: patched("object"),
      destination_ports: patched("object"),
      icmp_type_code: patched("object"),
    },
    // On the server, every rule has a protocol. So null in a manifest means the protocol of a new rule.
    complete: ({ protocol, ...rest }) =>
      protocol === undefined ? rest : { ...rest, protocol: protocol ?? ANY_PROTOCOL },
  },
  {
    list: "placement_groups",
    singular: "placement group",
    path: "/v1/placement-groups",
    key: ["name"],
    fields: {
      name,
      ...described,
      policy: chosen(fixed("text")),
      level: chosen(fixed("text")),
      strictness: chosen(fixed("text")),
    },
  },
  {
    list: "instances",
    singular: "instance",
    path: "/v1/instances",
    key: ["name"],
    fields: {
      name,
      ...described,
      image: required(fixed("text")),
      vpc: required(fixed("text")),
      primary_subnet: required(fixed("text")),
      cpu: required(fixed("number")),
      memory_bytes: required(fixed("bytes")),
      disk_bytes: chosen({ type: "bytes", change: "grow" }),
      // Hidden, because a manifest cannot name all keys of an existing instance: a key may belong to another user, or
      // may be deleted.
      ssh_keys: { type: "texts", change: "hidden" },
      placement_group: fixed("text"),
      deletion_protection: patched("boolean"),
      extra_nics: { type: "objects", change: "hidden" },
      user_data: { type: "text", change: "hidden" },
    },
    // On the server, the protection is always on or off. So null in a manifest means off.
    complete: ({ deletion_protection, ...rest }) =>
      deletion_protection === undefined ? rest : { ...rest, deletion_protection: deletion_protection ?? false },
  },
] as const satisfies readonly ManifestKind[];

export type ListName = (typeof KINDS)[number]["list"];

export function kindOf(list: string): ManifestKind {
  return KINDS.find((kind) => kind.list === list)!;
}
