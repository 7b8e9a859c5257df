// Defines the enumerations of the API, as const arrays. This file imports nothing, so that executables can use the
// values without including schema code.

/** The state of a compute node. */
export const CN_STATES = ["pending", "approved", "disabled", "awaiting_setup", "setting_up"] as const;
export type CnState = (typeof CN_STATES)[number];

/** The role of a compute node. */
export const CN_ROLES = ["tenant", "edge", "both"] as const;
export type CnRole = (typeof CN_ROLES)[number];

/** The scope of an API key. */
export const KEY_SCOPES = ["full", "read_only", "audit_only", "agent", "booter", "ur_enroll"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The kinds of login sessions: a program's session uses tokens, a session of the web console uses a cookie. */
export const SESSION_KINDS = ["token", "web"] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

/** The kinds of objects that a search finds. */
export const SEARCH_KINDS = [
  "cn",
  "instance",
  "floating_ip",
  "vpc",
  "project",
  "tenant",
  "silo",
  "operation",
  "job",
] as const;

/** The tiers of pools and the kinds of devices in a capacity report. */
export const POOL_TIERS = ["ssd", "nvme", "hdd", "mixed"] as const;
export const DEVICE_KINDS = ["gpu", "sr-iov-vf"] as const;

/** The states of an operation as the API shows them. */
export const OPERATION_STATES = ["pending", "running", "unwinding", "succeeded", "failed", "unwound", "stuck"] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** The status of one step of an operation. */
export const STEP_STATUSES = [
  "pending",
  "running",
  "succeeded",
  "failed",
  "undo_running",
  "undone",
  "undo_failed",
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** The kinds of objects that an operation can refer to. */
export const RESOURCE_SCOPES = [
  "fleet",
  "silo",
  "tenant",
  "project",
  "vpc",
  "subnet",
  "cn",
  "instance",
  "nic",
  "disk",
  "image",
  "floating_ip",
  "nat_gateway",
  "route",
  "route_table",
  "edge_cluster",
  "job",
] as const;

/** The states of a delivery to a webhook. */
export const WEBHOOK_DELIVERY_STATES = ["pending", "delivered", "dead"] as const;
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];

/** The authorization decision in an audit event. */
export const AUDIT_DECISIONS = ["allow", "deny", "not_evaluated"] as const;

/** The states of a boot record. */
export const BOOT_RECORD_STATES = ["discovered", "enrolling", "enrolled", "decommissioned"] as const;
export type BootRecordState = (typeof BOOT_RECORD_STATES)[number];

/** The property that an allowlist entry compares. */
export const ALLOWLIST_KINDS = ["mac_prefix", "service_tag"] as const;

/** How a boot record was first discovered. */
export const PROVENANCE_SOURCES = ["booter", "operator"] as const;

/** The console of a machine's operating system: the screen, or a serial port by its name in SmartOS. */
export const BOOT_CONSOLES = ["text", "ttya", "ttyb", "ttyc", "ttyd"] as const;
export type BootConsolePort = (typeof BOOT_CONSOLES)[number];

/**
 * Kernel properties that operators cannot set. The booter sets the first two; the last would destroy a machine's pools.
 */
export const RESERVED_KERNEL_PROPERTIES = ["root_shadow", "rabbitmq", "destroy_zpools"] as const;

/** The kinds of platform images: a SmartOS platform, or a Linux node image. */
export const PLATFORM_KINDS = ["smartos", "linux"] as const;
export type PlatformKind = (typeof PLATFORM_KINDS)[number];

/** The disk layouts and the compressions that a setup approval can choose. */
export const DISK_LAYOUTS = ["single", "mirror", "raidz1", "raidz2", "raidz3"] as const;
export type DiskLayout = (typeof DISK_LAYOUTS)[number];
export const COMPRESSIONS = [
  "off",
  "on",
  "lz4",
  "zstd",
  "gzip",
  "gzip-1",
  "gzip-2",
  "gzip-3",
  "gzip-4",
  "gzip-5",
  "gzip-6",
  "gzip-7",
  "gzip-8",
  "gzip-9",
] as const;

/** The states of an instance. */
export const INSTANCE_STATES = ["pending", "provisioning", "running", "stopping", "stopped", "failed"] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

/**
 * The modes of a console session. write: type and read. watch: only read. log and screenshot: read the log or the
 * screen once.
 */
export const CONSOLE_MODES = ["write", "watch", "log", "screenshot"] as const;
export type ConsoleMode = (typeof CONSOLE_MODES)[number];
/** The modes in which one request returns the whole output. They need no ticket. */
export const CONSOLE_READS = ["log", "screenshot"] as const satisfies readonly ConsoleMode[];
export type ConsoleRead = (typeof CONSOLE_READS)[number];

/** Rights that a user has beyond its own tenant. `storage-admin` can be granted, but no route requires it yet. */
export const CAPABILITIES = [
  "system-read",
  "system-operate",
  "system-config-write",
  "storage-admin",
  "silo-admin",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The scopes of a key that is bound to a tenant. */
export const TENANT_KEY_SCOPES = ["full", "read_only"] as const;

/** Address families, and the enumerations of firewall rules, placement groups and port forwards. */
export const ADDRESS_FAMILIES = ["v4", "v6"] as const;
export type AddressFamily = (typeof ADDRESS_FAMILIES)[number];
export const FIREWALL_DIRECTIONS = ["inbound", "outbound"] as const;
export type FirewallDirection = (typeof FIREWALL_DIRECTIONS)[number];
export const FIREWALL_ACTIONS = ["allow", "deny"] as const;
export type FirewallAction = (typeof FIREWALL_ACTIONS)[number];
export const PLACEMENT_GROUP_POLICIES = ["anti_affinity", "affinity"] as const;
export type PlacementGroupPolicy = (typeof PLACEMENT_GROUP_POLICIES)[number];
export const PLACEMENT_GROUP_LEVELS = ["node", "fault_domain"] as const;
export type PlacementGroupLevel = (typeof PLACEMENT_GROUP_LEVELS)[number];
export const PLACEMENT_GROUP_STRICTNESSES = ["required", "preferred"] as const;
export type PlacementGroupStrictness = (typeof PLACEMENT_GROUP_STRICTNESSES)[number];
export const PORT_FORWARD_PROTOCOLS = ["tcp", "udp"] as const;
export type PortForwardProtocol = (typeof PORT_FORWARD_PROTOCOLS)[number];
export const FIREWALL_PROTOCOLS = ["any", "tcp", "udp", "icmp4", "icmp6"] as const;
export type FirewallProtocol = (typeof FIREWALL_PROTOCOLS)[number];
/** The protocols of a packet. */
export const PACKET_PROTOCOLS = ["tcp", "udp", "icmp4", "icmp6"] as const satisfies readonly FirewallProtocol[];
export type PacketProtocol = (typeof PACKET_PROTOCOLS)[number];
/** The results of a trace: the packet reaches its receiver, leaves the VPCs, or stops; or the result is unknown. */
export const TRACE_VERDICTS = ["arrives", "leaves", "stops", "unknown"] as const;

/** The kinds of subnets and of route targets. */
export const SUBNET_KINDS = ["internal", "external", "fabric", "unknown"] as const;
export const ROUTE_TARGET_KINDS = ["blackhole", "reject", "virtual_gateway", "nat_gateway", "floating_ip"] as const;
export type RouteTargetKind = (typeof ROUTE_TARGET_KINDS)[number];

/** The kinds of scopes of images and SSH keys. Only SSH keys can have the scope `user`. */
export const IMAGE_SCOPE_KINDS = ["public", "silo", "tenant", "project"] as const;
export type ImageScopeKind = (typeof IMAGE_SCOPE_KINDS)[number];
export const SCOPE_KINDS = [...IMAGE_SCOPE_KINDS, "user"] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];

/**
 * The kind of virtualization with which a node runs an instance. The server takes it from the instance's image, or uses
 * `not-applicable` if the image names no known kind.
 */
export const INSTANCE_BRANDS = ["kvm", "bhyve", "lx", "native-minimal", "not-applicable"] as const;
export type InstanceBrand = (typeof INSTANCE_BRANDS)[number];

/** The kinds of disks. */
export const DISK_KINDS = ["boot", "data"] as const;
export type DiskKind = (typeof DISK_KINDS)[number];

/**
 * How consistent a snapshot is. at_rest: nothing wrote to the disk. frozen: the guest agent had frozen the file
 * systems. crash: the copy is like a disk after a power failure.
 */
export const SNAPSHOT_CONSISTENCIES = ["at_rest", "frozen", "crash"] as const;
export type SnapshotConsistency = (typeof SNAPSHOT_CONSISTENCIES)[number];

/** The kinds of jobs that this version sends. */
export const JOB_KINDS = [
  "provision",
  "start",
  "stop",
  "restart",
  "reset",
  "rebuild",
  "delete",
  "resize_disk",
  "create_disk",
  "attach_disk",
  "detach_disk",
  "delete_disk",
  "create_snapshot",
  "delete_snapshot",
  "create_image",
  "fip_claim",
  "fip_release",
  "migrate_receive",
  "migrate_send",
  "migrate_resume",
  "migrate_activate",
  "migrate_discard",
  "migrate_clean",
  "reboot",
] as const;
export type JobKind = (typeof JOB_KINDS)[number];
/**
 * The ways to restart the machine of a node that is upgraded: by the node's agent, or by an operator through its BMC.
 */
export const UPGRADE_REBOOTS = ["agent", "operator"] as const;
export type UpgradeReboot = (typeof UPGRADE_REBOOTS)[number];
/** The states of a migration of an instance; only `running` is not final. */
export const MIGRATION_STATES = ["running", "completed", "failed", "aborted"] as const;
export type MigrationState = (typeof MIGRATION_STATES)[number];
/** The states of a job; the last three are final. */
export const JOB_STATUSES = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The result of one placement filter for one node. */
export const FILTER_VERDICTS = ["accept", "reject", "skip"] as const;
export type FilterVerdict = (typeof FILTER_VERDICTS)[number];

/** The placement filters, in the order in which they run. */
export const PLACEMENT_FILTERS = [
  "cn-approved-and-live",
  "cn-not-in-avoid-list",
  "cn-capacity-present",
  "cn-role-matches",
  "cn-not-reserved",
  "cn-not-cordoned",
  "cn-not-evacuating",
  "cn-scope-match",
  "cn-platform-min",
  "cn-traits-required",
  "cn-nic-tags",
  "cn-underlay",
  "cn-zpool-has-space",
  "cn-ram-available",
  "cn-cpu-available",
  "cn-numa-fits",
  "cn-device-available",
  "cn-hvm-supported",
  "cn-affinity-required",
  "cn-bhyve-compatible",
  "cn-cpu-feature-superset",
  "cn-time-synced",
  "cn-zfs-compatible",
] as const;
export type PlacementFilter = (typeof PLACEMENT_FILTERS)[number];

/** The placement scorers. */
export const PLACEMENT_SCORERS = [
  "score-ram-headroom",
  "score-disk-headroom",
  "score-spread-by-fault-domain",
  "score-pack-by-fault-domain",
  "score-affinity-preferred",
  "score-platform-current",
  "score-fewer-cotenant-zones",
  "score-uniform-random",
  "score-avoid-hot-now",
  "score-prefer-low-baseline",
  "score-diurnal-fit",
] as const;
export type PlacementScorer = (typeof PLACEMENT_SCORERS)[number];

/** The placement rules of a node that can be reset to their defaults. */
export const CN_PLACEMENT_CLEARABLE = [
  "overprovision_cpu",
  "overprovision_ram",
  "overprovision_disk",
  "fault_domain",
  "pinned_silo_uuid",
  "pinned_tenant_uuid",
  "note",
] as const;
export type CnPlacementClearable = (typeof CN_PLACEMENT_CLEARABLE)[number];

/** The statuses of the doctor's report. Each check of the report can also have the status `skip`. */
export const DIAGNOSES = ["ok", "warn", "fail"] as const;
export const CHECK_STATUSES = [...DIAGNOSES, "skip"] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];
/** The transitions that the doctor's report covers. */
export const DOCTOR_SCOPES = ["recent", "all"] as const;
export type DoctorScope = (typeof DOCTOR_SCOPES)[number];

/** The status of a network document on a node: the node has received it, has applied it, or could not apply it. */
export const REALIZATION_STATUSES = ["accepted", "applied", "failed"] as const;
export type RealizationStatus = (typeof REALIZATION_STATUSES)[number];

/** The load of an instance is shown with one entry per minute or one entry per hour. */
export const LOAD_STEPS = ["minute", "hour"] as const;
export type LoadStep = (typeof LOAD_STEPS)[number];
