// Defines the schemas of boot records, the boot policy, the declared roster and staged platform images
// (docs/booting.md).
import { z } from "zod";
import { Hostname } from "./agent.ts";
import { Timestamp, withDefault } from "./common.ts";
import {
  ALLOWLIST_KINDS,
  BOOT_CONSOLES,
  BOOT_RECORD_STATES,
  PLATFORM_KINDS,
  PROVENANCE_SOURCES,
  RESERVED_KERNEL_PROPERTIES,
} from "./enums.ts";
import { LabelText } from "./labels.ts";
import {
  BOOT_CONSOLE_SPEED_DEFAULT,
  CIDR_TEXT_CHARS_MAX,
  KERNEL_ARGS_MAX,
  LABEL_ARGUMENTS_MAX,
  MACS_PER_NODE_MAX,
  RACK_NETWORKS_MAX,
  RACK_RELAYS_MAX,
  ROSTER_ENTRIES_MAX,
  SERVICE_TAG_CHARS_MAX,
  VLAN_ID_MAX,
} from "./limits.ts";

/** The stamp of a platform image: the name that identifies the image. */
export const Stamp = z.string().regex(
  /^(?!.*\.\.)[A-Za-z0-9._-]{1,64}$/,
  "must be 1 to 64 letters, digits, dots, underscores or hyphens, without two dots in a row",
);

/**
 * A kernel argument. Its characters are limited so that it is always one word of a boot script (docs/reliability.md,
 * S-22).
 */
export const KernelArgument = z.string().regex(
  /^[A-Za-z0-9_.,:=/+@%-]{1,256}$/,
  "must be 1 to 256 letters, digits or any of _ . , : = / + @ % -",
);

/**
 * Finds a reserved property in `a=b` and in the platform's form `-Ba=b,c=d`. Ignores case, and treats `_` and `-`
 * alike.
 */
const RESERVED = new RegExp(
  `(?:^|^-B|,)(?:${RESERVED_KERNEL_PROPERTIES.join("|").replaceAll("_", "[_-]")})(?:$|[=,])`,
  "i",
);

/** A kernel argument of a machine, a label or the boot policy. */
export const OwnKernelArgument = KernelArgument.refine(
  (text) => !RESERVED.test(text),
  `must not set ${RESERVED_KERNEL_PROPERTIES.join(", ")}`,
);

const CONSOLE_SPEEDS: readonly number[] = [9_600, 19_200, 38_400, 57_600, BOOT_CONSOLE_SPEED_DEFAULT];

/** The console of a machine. */
export const BootConsole = z.strictObject({
  port: z.enum(BOOT_CONSOLES).describe(
    "The screen, or a serial port. In Linux, the ports ttya to ttyd have the names ttyS0 to ttyS3",
  ),
  speed: withDefault(
    z.number().int().refine((speed) => CONSOLE_SPEEDS.includes(speed), `must be one of ${CONSOLE_SPEEDS.join(", ")}`),
    BOOT_CONSOLE_SPEED_DEFAULT,
  ).describe(`Bits per second of a serial port. Default: ${BOOT_CONSOLE_SPEED_DEFAULT}`),
});
export type BootConsole = z.infer<typeof BootConsole>;

/** The kernel arguments and the console. They apply to one machine, or to all nodes with one label. */
export const BootArguments = z.strictObject({
  kernel_args: z.array(OwnKernelArgument).max(KERNEL_ARGS_MAX),
  console: BootConsole.nullable().describe(
    "Null: the console that a label sets, or else the console in the booter's configuration",
  ),
});
export type BootArguments = z.infer<typeof BootArguments>;

const NicTag = z.string().regex(
  /^[A-Za-z0-9_.-]{1,63}$/,
  "must be 1 to 63 letters, digits, dots, underscores or hyphens",
);

/** A link aggregate. Its first member is the boot MAC. */
export const Aggregate = z.strictObject({
  name: NicTag,
  mode: withDefault(z.enum(["off", "active", "passive"]), "active"),
  macs: z.array(z.string().max(32)).min(1).max(MACS_PER_NODE_MAX),
});
export type Aggregate = z.infer<typeof Aggregate>;

/** The tag of a VLAN (IEEE 802.1Q). */
const VlanId = z.number().int().min(1).max(VLAN_ID_MAX);

/** The network settings with which a machine boots. */
export const Networking = z.object({
  address: z.string(),
  prefix_len: z.number().int(),
  gateway: z.string().nullable(),
  vlan_id: VlanId.optional().describe("The VLAN tag of the machine's network; absent if the network is untagged"),
  resolvers: z.array(z.string()),
  hostname: z.string().nullable(),
  nic_tags: z.array(z.string()),
  aggregate: Aggregate.optional(),
});
export type Networking = z.infer<typeof Networking>;

/** How a boot record was first discovered. */
export const Provenance = z.object({
  source: z.enum(PROVENANCE_SOURCES),
  first_seen_at: Timestamp,
  first_seen_by: z.string().describe("The id of the API key or the user that first reported or authorized the machine"),
});
export type Provenance = z.infer<typeof Provenance>;

/** The boot record of one MAC. `assigned_pi` is the stamp of the platform image that the machine boots. */
export const BootRecord = z.object({
  mac: z.string(),
  state: z.enum(BOOT_RECORD_STATES),
  address: z.string().nullable(),
  networking: Networking.nullable(),
  provenance: Provenance,
  server_uuid: z.string().nullable(),
  assigned_pi: z.string().nullable(),
  rescue: z.boolean(),
  hostname: z.string().nullable(),
  kernel_args: z.array(z.string()).describe("The kernel arguments of this machine"),
  console: BootConsole.nullable().describe("The console of this machine"),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type BootRecord = z.infer<typeof BootRecord>;

/**
 * The last netboot request of a machine. The values from DHCP options prove nothing, because the machine chooses them.
 */
export const BootClient = z.object({
  arch: z.number().int().nullable().describe("DHCP option 93"),
  architecture: z.string().describe("The name of `arch`; unknown if the request had none"),
  vendor_class: z.string().nullable().describe("DHCP option 60"),
  user_class: z.string().nullable().describe("DHCP option 77"),
  guid: z.string().nullable().describe("DHCP option 97: the SMBIOS UUID, 32 hex digits as the machine sent them"),
  relay: z.string().nullable().describe("The address of the relay that forwarded the request; null without a relay"),
  has_boot_file: z.boolean().describe("False if the booter has no boot file for this architecture"),
  seen_at: Timestamp,
  seen_by: z.string().describe("The API key of the booter"),
});
export type BootClient = z.infer<typeof BootClient>;

/** A boot record with the combined boot arguments of the machine and of the labels of its node. */
const WithArguments = BootRecord.extend({
  boot_arguments: BootArguments.describe(
    "The kernel arguments of the node's labels, followed by the machine's own arguments",
  ),
});

/** A boot record with the last netboot request of its machine. */
export const BootRecordShown = WithArguments.extend({
  client: BootClient.nullable().describe("The last netboot request; null if no booter reported one"),
});
export type BootRecordShown = z.infer<typeof BootRecordShown>;

/** A boot record as a booter gets it. It can contain the hash of the root password, which the booted platform sets. */
export const SeenRecord = WithArguments.extend({
  member_mac: z.string().optional().describe(
    "The MAC that the booter reported, if this record belongs to another port of the same aggregate",
  ),
  root_password_hash: z.string().optional().describe("sha512-crypt, if one is set. Lists leave it out"),
});
export type SeenRecord = z.infer<typeof SeenRecord>;

/** An allowlist entry. It admits unknown machines by a prefix of the MAC or by the vendor's service tag. */
export const AllowlistEntry = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal(ALLOWLIST_KINDS[0]),
    value: z.string().regex(
      /^[0-9a-f]{2}(?::[0-9a-f]{2}){0,5}$/,
      "a mac_prefix is lowercase hex in colon-separated octets",
    ),
  }),
  z.strictObject({
    kind: z.literal(ALLOWLIST_KINDS[1]),
    value: z.string().regex(
      new RegExp(`^[A-Za-z0-9]{1,${SERVICE_TAG_CHARS_MAX}}$`),
      `a service_tag is 1 to ${SERVICE_TAG_CHARS_MAX} ASCII letters or digits`,
    ),
  }),
]);
export type AllowlistEntry = z.infer<typeof AllowlistEntry>;

/** The network in which machines boot, and the range of addresses that they get. The range includes both ends. */
export const AdminNetwork = z.strictObject({
  ipv4_block: z.string().max(CIDR_TEXT_CHARS_MAX).describe("CIDR"),
  provision_start_ipv4: z.ipv4(),
  provision_end_ipv4: z.ipv4(),
  gateway: z.ipv4().nullish().transform((value) => value ?? null),
  vlan_id: VlanId.nullish().transform((value) => value ?? undefined).optional().describe(
    "The VLAN tag with which the booted system sends; absent if the network is untagged",
  ),
  resolvers: withDefault(z.array(z.ipv4()).max(8), []),
});
export type AdminNetwork = z.infer<typeof AdminNetwork>;

/** An additional network in which machines boot. They reach the booter through a relay. */
export const RackNetwork = AdminNetwork.extend({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,63}$/, "must be 1 to 63 letters, digits, dots, underscores or hyphens"),
  relays: withDefault(z.array(z.ipv4()).max(RACK_RELAYS_MAX), []).describe(
    "Addresses of relays outside the block. A relay inside the block needs no entry",
  ),
});
export type RackNetwork = z.infer<typeof RackNetwork>;

/** The kernel arguments of the machines whose node has this label. */
export const LabelArguments = BootArguments.extend({ label: LabelText.describe("KEY=VALUE") });
export type LabelArguments = z.infer<typeof LabelArguments>;

/**
 * The boot policy. A PUT replaces all of it. Only `rack_networks` and `label_arguments` may be missing, and are then
 * empty. If-Match with the ETag of a GET prevents lost updates.
 */
export const BootPolicy = z.strictObject({
  auto_enroll: z.boolean(),
  allowlist: z.array(AllowlistEntry).max(10_000),
  enrollment_pi: Stamp.nullable(),
  enrollment_kernel_args: z.array(OwnKernelArgument).max(KERNEL_ARGS_MAX),
  admin_network: AdminNetwork.nullable(),
  rack_networks: withDefault(z.array(RackNetwork).max(RACK_NETWORKS_MAX), []),
  label_arguments: withDefault(z.array(LabelArguments).max(LABEL_ARGUMENTS_MAX), []).describe(
    "Kernel arguments by node label. A node with several of these labels gets the arguments of all of them, in this " +
      "order",
  ),
});
export type BootPolicy = z.infer<typeof BootPolicy>;
/** The body as clients send it: fields with a default are optional. */
export type BootPolicyBody = z.input<typeof BootPolicy>;

/** One entry of the file in which the site declares its machines. */
export const RosterEntry = z.strictObject({
  hostname: Hostname,
  macs: z.array(z.string().max(32)).min(1).max(MACS_PER_NODE_MAX),
  nic_tags: withDefault(z.array(NicTag).max(64), []),
  aggregate: Aggregate.nullish().transform((value) => value ?? undefined),
});
export type RosterEntry = z.infer<typeof RosterEntry>;

/** The machines that the site declares. Each entry names the MACs of one machine. */
export const Roster = z.array(RosterEntry).max(ROSTER_ENTRIES_MAX);
export type Roster = z.infer<typeof Roster>;

/** The result of applying the roster to the boot records. Each list names boot MACs. */
export const Convergence = z.object({
  converged: z.array(z.string()).describe(
    "MACs whose boot records were changed. A machine gets the change at its next netboot",
  ),
  unchanged: z.array(z.string()),
  unknown: z.array(z.string()).describe("Boot MACs of the roster that have no record yet"),
});
export type Convergence = z.infer<typeof Convergence>;

/** The body that assigns the platform image for the next boots of a machine. */
export const AssignBody = z.strictObject({ platform_image: Stamp });

/** A machine that sent a packet to the booter. Unknown and malformed members of `client` are ignored. */
export const SeenBody = z.object({
  mac: z.string().max(32),
  follow_aggregate: withDefault(z.boolean(), false).describe(
    "true: the answer for a port of a declared aggregate is the boot record of the aggregate's first member",
  ),
  client: withDefault(z.record(z.string(), z.unknown()), {}).describe(
    "`arch` (a number), `vendor_class`, `user_class`, `guid`, `relay` (the address of the relay), and " +
      "`has_boot_file`: false if the booter has no boot file for the machine's architecture. If `client` is empty, " +
      "the server keeps the last request",
  ),
});

/** All stamps that a booter can serve. The list replaces the booter's previous list. */
export const StagedBody = z.strictObject({
  stamps: z.array(Stamp).max(1_000),
  kinds: withDefault(z.record(Stamp, z.enum(PLATFORM_KINDS)), {}).describe(
    "The kind of each stamp that is not a SmartOS platform. Every key must be in `stamps`",
  ),
});
/** A platform image that a booter has staged and can serve. */
export const StagedImage = z.object({
  stamp: z.string(),
  kind: z.enum(PLATFORM_KINDS).describe("The operating system: a SmartOS platform or a Linux node image"),
  staged_at: Timestamp,
  staged_by: z.string(),
});
export type StagedImage = z.infer<typeof StagedImage>;
