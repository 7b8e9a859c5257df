// What operators offer to tenants as public addresses: NIC tags, external subnets, pools of them. Document 4, 1.16.
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { MTU_MAX, MTU_MIN, VLAN_ID_MAX } from "./limits.ts";
import { Description, ResourceName } from "./tenancy.ts";

const described = { name: ResourceName, description: withDefault(Description, "") };
const address = z.union([z.ipv4(), z.ipv6()]).nullish();

export const NicTag = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  mtu: z.number().int(),
  created_at: Timestamp,
});
export type NicTag = z.infer<typeof NicTag>;
export const NicTagBody = z.strictObject({ ...described, mtu: z.number().int().min(MTU_MIN).max(MTU_MAX) });
export type NicTagBody = z.infer<typeof NicTagBody>;

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
  owner_silos: z.array(z.string()).describe("Whose tenants may take from it; empty: all"),
  created_at: Timestamp,
});
export type ExternalSubnet = z.infer<typeof ExternalSubnet>;
export const ExternalSubnetBody = z.strictObject({
  ...described,
  nic_tag: z.string().max(63),
  vlan_id: z.number().int().min(0).max(VLAN_ID_MAX).nullish(),
  ipv4_block: z.cidrv4().nullish(),
  ipv6_block: z.cidrv6().nullish(),
  provision_start_ipv4: address,
  provision_end_ipv4: address,
  provision_start_ipv6: address,
  provision_end_ipv6: address,
  owner_silos: withDefault(z.array(z.guid()).max(1_000), []),
});
export type ExternalSubnetBody = z.infer<typeof ExternalSubnetBody>;

export const NetworkPool = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  networks: z.array(z.string()).describe("External subnets, in the order in which they are asked"),
  owner_silos: z.array(z.string()).describe("Whose tenants may take from it; empty: all"),
  created_at: Timestamp,
});
export type NetworkPool = z.infer<typeof NetworkPool>;
export const NetworkPoolBody = z.strictObject({
  ...described,
  networks: z.array(z.guid()).min(1).max(64),
  owner_silos: withDefault(z.array(z.guid()).max(1_000), []),
});
export type NetworkPoolBody = z.infer<typeof NetworkPoolBody>;

/** What a node offers, as it last reported its capacity. */
export const CnNicTags = z.object({ server_uuid: z.string(), hostname: z.string(), nic_tags: z.array(z.string()) });
export type CnNicTags = z.infer<typeof CnNicTags>;
