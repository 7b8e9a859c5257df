// Defines the schemas of instances, and of their disks and NICs (docs/instances.md).
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import { DISK_KINDS, INSTANCE_BRANDS, INSTANCE_STATES } from "./enums.ts";
import { Labels, LabelsPatch, NewLabels } from "./labels.ts";
import {
  ADDITIONAL_IPS_MAX,
  ALLOWED_CIDRS_MAX,
  EXTRA_NICS_MAX,
  GUEST_ADDRESSES_MAX,
  GUEST_INTERFACES_MAX,
  SSH_KEYS_OF_INSTANCE_MAX,
} from "./limits.ts";
import { Realized } from "./network.ts";
import { Description, NamedPatch, ResourceName } from "./tenancy.ts";

/** The form of a MAC address in a node's report. */
const GUEST_MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** An instance on a node, as operators see it. */
export const PlacedInstance = z.object({
  id: z.string(),
  name: z.string(),
  host_cn_uuid: z.string().nullable(),
  lifecycle: z.object({ state: z.enum(INSTANCE_STATES) }),
  silo_name: z.string(),
  tenant_id: z.string(),
  tenant_name: z.string(),
  project_id: z.string(),
  project_name: z.string(),
  cpu: z.number().int(),
  memory_bytes: z.number().int(),
  disk_bytes: z.number().int().describe("All disks together"),
});
export type PlacedInstance = z.infer<typeof PlacedInstance>;

/** The state of an instance. `reason` is present in the state failed. */
export const Lifecycle = z.object({ state: z.enum(INSTANCE_STATES), reason: z.string().optional() });
export type Lifecycle = z.infer<typeof Lifecycle>;

/** A virtual machine. `cpu` is its number of vCPUs. */
export const Instance = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  deletion_protection: z.boolean().describe("While this is true, the server refuses to delete or rebuild the instance"),
  placement_group_id: z.string().nullable().describe(
    "The placement group that the instance joined when it was created, or null",
  ),
  brand: z.enum(INSTANCE_BRANDS),
  cpu: z.number().int(),
  memory_bytes: z.number().int(),
  image_id: z.string(),
  primary_subnet_id: z.string(),
  ssh_key_ids: z.array(z.string()),
  host_cn_uuid: z.string().nullable(),
  host_live: z.boolean().nullable().describe("Whether the node of the instance is live; null without a node"),
  found_on_host: z.boolean().describe("False if the last two reports of the node did not list the instance"),
  lifecycle: Lifecycle,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Instance = z.infer<typeof Instance>;

/** An instance in the list for operators, with the names of its silo, tenant, project and node. */
export const SystemInstance = Instance.extend({
  silo_name: z.string(),
  tenant_name: z.string(),
  project_name: z.string(),
  host_name: z.string().nullable().describe("The hostname of the instance's node"),
  addresses: z.array(z.string()).describe(
    "The addresses of the instance's NICs, the primary NIC first, followed by the addresses of its floating IPs",
  ),
});
export type SystemInstance = z.infer<typeof SystemInstance>;

/** A network interface, as the guest itself reports it. */
export const GuestInterface = z.object({
  mac: z.string().regex(GUEST_MAC),
  addresses: z.array(z.union([z.ipv4(), z.ipv6()])).max(GUEST_ADDRESSES_MAX),
});
export type GuestInterface = z.infer<typeof GuestInterface>;
/** The network interfaces of a guest, as the guest itself reports them. */
export const GuestInterfaces = z.array(GuestInterface).max(GUEST_INTERFACES_MAX);

/** An instance with the network interfaces that its guest reports. */
export const InstanceShown = Instance.extend({
  guest_interfaces: GuestInterfaces.nullable().describe(
    "The addresses that the guest itself reports, if it runs the QEMU guest agent. Do not trust them: a guest may " +
      "report anything, and the network delivers packets only to the instance's own addresses and blocks. The values " +
      "are from the last status report of the node. Null if the instance does not run or reports nothing",
  ),
});
export type InstanceShown = z.infer<typeof InstanceShown>;

/** An additional NIC that is created with the instance. */
export const ExtraNic = z.strictObject({ subnet_id: Uuid, name: ResourceName });
export type ExtraNic = z.infer<typeof ExtraNic>;

const Cpu = z.number().int().min(0).max(0xffff_ffff).describe(
  "vCPUs, above 0, and at most the number of logical processors of the node",
);
const MemoryBytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(
  "At least the setting `instance.memory_bytes_min`, 16 MiB by default",
);

/** The body that creates an instance. The route itself refuses zero sizes and long user data, with its own messages. */
export const InstanceBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  image_id: Uuid,
  primary_subnet_id: Uuid,
  cpu: Cpu,
  memory_bytes: MemoryBytes,
  ssh_key_ids: withDefault(z.array(Uuid).max(SSH_KEYS_OF_INSTANCE_MAX), []),
  disk_bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullish()
    .describe("Size of the boot disk, at least the image's size. Default: the image's size, for bhyve at least 20 GiB"),
  mac: z.string().max(64).nullish().describe("MAC address of the primary NIC"),
  extra_nics: withDefault(z.array(ExtraNic).max(EXTRA_NICS_MAX), []),
  user_data: z.string().nullish().describe("For cloud-init, up to 64 KiB"),
  labels: withDefault(NewLabels, {}),
  deletion_protection: withDefault(z.boolean(), false),
  placement_group_id: Uuid.nullish().describe("A placement group of the project; the instance stays in it"),
});
export type InstanceBody = z.infer<typeof InstanceBody>;

/** The body that changes an instance. Missing fields stay unchanged. */
export const InstancePatch = NamedPatch.extend({
  labels: LabelsPatch.nullish(),
  deletion_protection: z.boolean().nullish(),
  cpu: Cpu.nullish(),
  memory_bytes: MemoryBytes.nullish(),
});
export type InstancePatch = z.infer<typeof InstancePatch>;

/** The body that rebuilds an instance. */
export const RebuildBody = z.strictObject({
  image_id: Uuid.nullish().describe("Image of the new boot disk; default: the image of the instance"),
});
export type RebuildBody = z.infer<typeof RebuildBody>;

/** A disk of an instance. `instance` and `instance_id` hold the same UUID. */
export const Disk = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  instance: z.string(),
  instance_id: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  kind: z.enum(DISK_KINDS),
  size_bytes: z.number().int(),
  applied_bytes: z.number().int().nullable().describe("The size that the node last reported"),
  attached: z.boolean().describe(
    "Whether the disk is attached to the guest. A detached disk stays on the node of its instance",
  ),
  source_image_id: z.string().nullable(),
  created_at: Timestamp,
});
export type Disk = z.infer<typeof Disk>;
/** The body that creates a data disk. */
export const DiskBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  size_bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().describe(
    "Above 0, at most 16 TiB, and at least the size of the snapshot or image. Default: that size",
  ),
  snapshot_id: Uuid.nullish().describe("Copies this snapshot, which must belong to the same instance"),
  image_id: Uuid.nullish().describe("Copies this image"),
});
export type DiskBody = z.infer<typeof DiskBody>;
/** The new size of a disk. Disks cannot shrink. */
export const DiskResizeBody = z.strictObject({ size_bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER) });
/** The resized disk. `reboot_required` is true if the guest may have to restart to see the new size. */
export const DiskResized = Disk.extend({ reboot_required: z.boolean() });
export type DiskResized = z.infer<typeof DiskResized>;

/** A NIC: a network port of an instance, with at most one primary address of each family. */
export const Nic = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  instance_id: z.string(),
  vpc_id: z.string(),
  subnet_id: z.string(),
  name: z.string(),
  labels: Labels,
  mac: z.string(),
  primary_ipv4: z.string().nullable(),
  primary_ipv6: z.string().nullable(),
  additional_ips: z.array(z.string()).describe("Further addresses of the NIC's subnet"),
  allowed_cidrs: z.array(z.string()).describe(
    "Blocks from which the guest may send, in addition to its own addresses. The VPC routes the blocks to the NIC",
  ),
  floating_ips: z.array(z.string()).describe("Addresses of the floating IPs that are attached to the NIC"),
  realized: Realized.nullable().describe(
    "How far the nodes have applied the network of the NIC's VPC; null in a blueprint",
  ),
  created_at: Timestamp,
});
export type Nic = z.infer<typeof Nic>;

const AdditionalIps = z.array(z.union([z.ipv4(), z.ipv6()])).max(ADDITIONAL_IPS_MAX).describe(
  "Further addresses of the NIC's subnet, which must be free",
);
const AllowedCidrs = z.array(z.union([z.cidrv4(), z.cidrv6()])).max(ALLOWED_CIDRS_MAX).describe(
  "Blocks from which the guest may send, in addition to its own addresses. Each must be inside a block of the VPC. " +
    "The VPC routes the blocks to the NIC, so they must not overlap an allowed block of another NIC. Host bits are " +
    "dropped",
);

/** The body that adds a NIC to a stopped instance. */
export const NicBody = z.strictObject({
  name: ResourceName,
  labels: withDefault(NewLabels, {}),
  subnet_id: Uuid,
  primary_ipv4: z.ipv4().nullish().describe("An address of the subnet; default: the lowest free address"),
  primary_ipv6: z.ipv6().nullish().describe("An address of the subnet; default: the lowest free address"),
  mac: z.string().max(64).nullish().describe("MAC address; default: a random one"),
  additional_ips: withDefault(AdditionalIps, []),
  allowed_cidrs: withDefault(AllowedCidrs, []),
});
export type NicBody = z.infer<typeof NicBody>;

/** The body that changes a NIC. A list replaces the present list; a missing list stays unchanged. */
export const NicPatch = z.strictObject({
  name: ResourceName.nullish(),
  labels: LabelsPatch.nullish(),
  additional_ips: AdditionalIps.nullish(),
  allowed_cidrs: AllowedCidrs.nullish(),
});
export type NicPatch = z.infer<typeof NicPatch>;
