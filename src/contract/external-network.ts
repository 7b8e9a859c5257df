// Defines the schemas of the public addresses that operators provide: NIC tags, external subnets, and pools of external
// subnets (docs/networking.md).
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import {
  MTU_MAX,
  MTU_MIN,
  OWNER_SILOS_MAX,
  POOL_NETWORKS_MAX,
  PORT_NAME_BYTES_MAX,
  REPORTED_NIC_TAGS_MAX,
  RESOURCE_NAME_BYTES_MAX,
  VLAN_ID_MAX,
} from "./limits.ts";
import { Description, ResourceName } from "./tenancy.ts";

const described = { name: ResourceName, description: withDefault(Description, "") };
const address = z.union([z.ipv4(), z.ipv6()]).nullish();
const silos = z.array(Uuid).max(OWNER_SILOS_MAX);

/** A NIC tag: the name of a physical network to which nodes have ports, and the network's MTU in bytes. */
export const NicTag = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  mtu: z.number().int(),
  created_at: Timestamp,
});
export type NicTag = z.infer<typeof NicTag>;
/** The body that creates a NIC tag. */
export const NicTagBody = z.strictObject({ ...described, mtu: z.number().int().min(MTU_MIN).max(MTU_MAX) });
export type NicTagBody = z.infer<typeof NicTagBody>;

/**
 * An external subnet: public addresses that are reached through a NIC tag. Each address family in use has a block, and
 * a range inside the block that includes both ends. The fields of an unused family are null.
 */
export const ExternalSubnet = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  kind: z.literal("external"),
  nic_tag: z.string().describe("The name of a NIC tag"),
  vlan_id: z.number().int().nullable(),
  ipv4_block: z.string().nullable(),
  ipv6_block: z.string().nullable(),
  provision_start_ipv4: z.string().nullable(),
  provision_end_ipv4: z.string().nullable(),
  provision_start_ipv6: z.string().nullable(),
  provision_end_ipv6: z.string().nullable(),
  gateway_ipv4: z.string().nullable().describe("The router of the external network"),
  gateway_ipv6: z.string().nullable(),
  owner_silos: z.array(z.string()).describe("The silos whose tenants may use the addresses; empty: all silos"),
  created_at: Timestamp,
});
export type ExternalSubnet = z.infer<typeof ExternalSubnet>;
/** The body that creates an external subnet, with at least one block. */
export const ExternalSubnetBody = z.strictObject({
  ...described,
  nic_tag: z.string().max(RESOURCE_NAME_BYTES_MAX).describe("The name of a NIC tag"),
  vlan_id: z.number().int().min(0).max(VLAN_ID_MAX).nullish(),
  ipv4_block: z.cidrv4().nullish().describe("Host bits are dropped"),
  ipv6_block: z.cidrv6().nullish().describe("Host bits are dropped"),
  provision_start_ipv4: address.describe("Default: the second address after the network address"),
  provision_end_ipv4: address.describe("Default: the last address of the block that a host can have"),
  provision_start_ipv6: address,
  provision_end_ipv6: address,
  gateway_ipv4: z.ipv4().nullish().describe("Default: the first address after the network address"),
  gateway_ipv6: z.ipv6().nullish().describe("Default: the first address after the network address"),
  owner_silos: withDefault(silos, []),
});
export type ExternalSubnetBody = z.infer<typeof ExternalSubnetBody>;

/**
 * A change of an external subnet. Missing fields stay unchanged. Blocks cannot change, because addresses may be in use.
 */
export const ExternalSubnetPatch = z.strictObject({
  name: ResourceName.nullish(),
  description: Description.nullish(),
  owner_silos: silos.nullish(),
});
export type ExternalSubnetPatch = z.infer<typeof ExternalSubnetPatch>;

/** A list of external subnets. The server takes an address from the first subnet with a free address. */
export const NetworkPool = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  networks: z.array(z.string()).describe("External subnets, in the order in which they are tried"),
  owner_silos: z.array(z.string()).describe("The silos whose tenants may use the addresses; empty: all silos"),
  created_at: Timestamp,
});
export type NetworkPool = z.infer<typeof NetworkPool>;
/** The body that creates a pool. */
export const NetworkPoolBody = z.strictObject({
  ...described,
  networks: z.array(Uuid).min(1).max(POOL_NETWORKS_MAX)
    .refine((ids) => new Set(ids).size === ids.length, "the list names a network twice"),
  owner_silos: withDefault(silos, []),
});
export type NetworkPoolBody = z.infer<typeof NetworkPoolBody>;

/** A NIC tag as a node reports it. */
export const ReportedNicTag = z.object({
  name: z.string().max(RESOURCE_NAME_BYTES_MAX),
  physical_nic: z.string().max(PORT_NAME_BYTES_MAX).describe("The port of the node; empty if unknown"),
  vlan_id: z.number().int().min(0).max(VLAN_ID_MAX).nullish().transform((value) => value ?? null),
  mtu: z.number().int().min(MTU_MIN).max(MTU_MAX).nullish().transform((value) => value ?? null),
  bridge: z.string().regex(/^[A-Za-z0-9._-]{1,15}$/, "must be the name of a network interface").nullish()
    .transform((value) => value ?? null).describe("The bridge for gateways and floating IPs; null without one"),
});
export type ReportedNicTag = z.infer<typeof ReportedNicTag>;

/** A node's NIC tags with their bridges. Names that no operator has created are dropped; an empty list is ignored. */
export const NicTagReport = z.object({ nic_tags: z.array(ReportedNicTag).max(REPORTED_NIC_TAGS_MAX) });
export type NicTagReport = z.infer<typeof NicTagReport>;

/** The NIC tags of a node: the names in its last capacity report, and the tags that it reported with their bridges. */
export const CnNicTags = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  nic_tags: z.array(z.string()),
  reported: z.array(ReportedNicTag),
});
export type CnNicTags = z.infer<typeof CnNicTags>;
