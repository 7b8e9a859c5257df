// Defines the cluster settings: the key, schema, default and description of each.
import { z } from "zod";
import { NicLimitClasses } from "./nic-limits.ts";
import { PLACEMENT_PROFILES_DEFAULT, PlacementProfiles } from "./placement-profiles.ts";
import {
  API_KEY_RETENTION_S_DEFAULT,
  API_KEY_RETENTION_S_MIN,
  AUDIT_ARCHIVE_AFTER_S_DEFAULT,
  AUDIT_ARCHIVE_AFTER_S_MIN,
  CALLER_REQUESTS_PER_MINUTE,
  CALLER_WRITES_PER_MINUTE,
  FETCH_RANGES_MAX,
  IMAGE_UPLOADED_BYTES_DEFAULT,
  INSTANCE_CREATE_WAIT_S,
  INSTANCE_MEMORY_BYTES_MIN,
  JOB_LEASE_S,
  LOG_RETENTION_S_DEFAULT,
  LOG_RETENTION_S_MIN,
  NTP_SERVERS_MAX,
  RESERVOIR_ENABLED_DEFAULT,
  RESERVOIR_PERCENT_DEFAULT,
  RESOLVERS_MAX,
  RETENTION_S_MAX,
  SAGA_RETENTION_S_DEFAULT,
  SESSION_LIFETIME_S_DEFAULT,
  WEB_SESSION_IDLE_S_DEFAULT,
  WEBHOOK_RETENTION_S_DEFAULT,
  WEBHOOK_RETENTION_S_MIN,
} from "./limits.ts";

type Definition = {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly restart_required: boolean;
  readonly description: string;
};

const seconds = (low: number, high: number) => z.number().int().min(low).max(high);
const nullableUrl = z.url({ protocol: /^https?$/ }).nullable();

const quotaLimit = (whose: "tenant" | "project", of: string) => ({
  // Null means unlimited.
  schema: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable(),
  default: null,
  restart_required: false,
  description: `${of} that a ${whose} without its own quota may have; null: unlimited`,
});

/** The end of the description of a setting that no code reads. Clients may still store a value. */
export const NO_EFFECT = "; has no effect in this version";

/**
 * The settings by key. Keys of durations end in _secs. `restart_required` is a field of the answer that clients expect.
 * Servers read each value when they need it, so no change needs a restart.
 */
export const SETTINGS = {
  "provisioner.inprocess_disabled": {
    schema: z.boolean(),
    default: false,
    restart_required: true,
    description: `Whether a server process runs without the provisioner${NO_EFFECT}`,
  },
  "instance.create_wait_secs": {
    schema: seconds(1, 86_400),
    default: INSTANCE_CREATE_WAIT_S,
    restart_required: false,
    description:
      "Seconds that a node may take for an operation on an instance. The request waits 10 s longer for the operation",
  },
  "instance.memory_bytes_min": {
    schema: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
    default: INSTANCE_MEMORY_BYTES_MIN,
    restart_required: false,
    description: "Smallest memory, in bytes, of an instance that is created or resized",
  },
  "sweeper.interval_secs": {
    schema: seconds(1, 3_600),
    default: 60,
    restart_required: true,
    description: `Seconds between sweeps for stale jobs and abandoned operations${NO_EFFECT}`,
  },
  "sweeper.stale_claim_threshold_secs": {
    schema: seconds(30, 86_400),
    default: JOB_LEASE_S,
    restart_required: true,
    description: "Seconds without a renewal after which a claimed job fails",
  },
  "dhcp.reconcile_interval_secs": {
    schema: seconds(10, 86_400),
    default: 300,
    restart_required: true,
    description: `Seconds between passes over DHCP leases${NO_EFFECT}`,
  },
  "dhcp.lease_gc_threshold_secs": {
    schema: seconds(3_600, Number.MAX_SAFE_INTEGER),
    default: 604_800,
    restart_required: true,
    description: `Seconds that an idle DHCP lease is kept${NO_EFFECT}`,
  },
  "metrics.backend": {
    schema: z.enum(["memory", "clickhouse"]),
    default: "memory",
    restart_required: true,
    description: `Where node metrics are stored${NO_EFFECT}`,
  },
  "metrics.clickhouse_url": {
    schema: nullableUrl,
    default: null,
    restart_required: true,
    description: `URL of the ClickHouse server for node metrics${NO_EFFECT}`,
  },
  "imds.enabled_default": {
    schema: z.boolean(),
    default: true,
    restart_required: true,
    description: `Whether instances get the metadata service${NO_EFFECT}`,
  },
  "imds.hop_limit_default": {
    schema: z.number().int().min(1).max(64),
    default: 1,
    restart_required: true,
    description: `IP hop limit of answers of the metadata service${NO_EFFECT}`,
  },
  "reservoir.enabled_default": {
    schema: z.boolean(),
    default: RESERVOIR_ENABLED_DEFAULT,
    restart_required: false,
    description: "Whether nodes without an override keep a memory reservoir",
  },
  "reservoir.percent_default": {
    schema: z.number(),
    default: RESERVOIR_PERCENT_DEFAULT,
    restart_required: false,
    description: "Reservoir of nodes without an override, as a fraction of physical memory; the node clamps it",
  },
  "saga.retention_secs": {
    schema: seconds(3_600, RETENTION_S_MAX),
    default: SAGA_RETENTION_S_DEFAULT,
    restart_required: true,
    description: "Seconds that finished operations are kept, at least 2 days, so that a repeated request gets its " +
      "first answer; stuck operations are kept forever",
  },
  "log.retention_secs": {
    schema: seconds(LOG_RETENTION_S_MIN, RETENTION_S_MAX),
    default: LOG_RETENTION_S_DEFAULT,
    restart_required: false,
    description: "Seconds that the transitions of records are kept. The last transition of each record is kept " +
      "forever. A transition with an audit entry is kept at least until the entry is archived",
  },
  "audit.archive_after_secs": {
    schema: seconds(AUDIT_ARCHIVE_AFTER_S_MIN, RETENTION_S_MAX),
    default: AUDIT_ARCHIVE_AFTER_S_DEFAULT,
    restart_required: false,
    description: "Seconds after which audit events move to the archive, where they stay readable and verifiable",
  },
  "api_key.retention_secs": {
    schema: seconds(API_KEY_RETENTION_S_MIN, RETENTION_S_MAX),
    default: API_KEY_RETENTION_S_DEFAULT,
    restart_required: false,
    description: "Seconds that an expired API key is kept and listed before it is deleted; the key of a node is " +
      "never deleted for its age",
  },
  "webhook.retention_secs": {
    schema: seconds(WEBHOOK_RETENTION_S_MIN, RETENTION_S_MAX),
    default: WEBHOOK_RETENTION_S_DEFAULT,
    restart_required: false,
    description: "Seconds that delivered and dead deliveries of webhooks are kept",
  },
  "placement.profiles": {
    schema: PlacementProfiles,
    default: PLACEMENT_PROFILES_DEFAULT,
    restart_required: false,
    description: "Weights of the placement scorers by profile, and the active profile",
  },
  "placement.load_materializer.interval_secs": {
    schema: seconds(1, 86_400),
    default: 60,
    restart_required: true,
    description: "Seconds between load summaries of nodes",
  },
  "placement.load_materializer.staleness_ticks": {
    schema: z.number().int().min(1).max(1_000),
    default: 3,
    restart_required: false,
    description: "Missed summaries after which a node's load is unknown",
  },
  "placement.load_materializer.clickhouse_url": {
    schema: nullableUrl,
    default: null,
    restart_required: true,
    description: `URL of the ClickHouse server to read node load from${NO_EFFECT}`,
  },
  "migration.sync_delta_threshold_bytes": {
    schema: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
    default: 52_428_800,
    restart_required: false,
    description: `A migration pauses its source when at most this many bytes are left to copy${NO_EFFECT}`,
  },
  "migration.max_sync_rounds": {
    schema: z.number().int().min(1).max(1_000),
    default: 10,
    restart_required: false,
    description: `A migration pauses its source after this many copy rounds, even if many bytes are left${NO_EFFECT}`,
  },
  "quota.tenant_default.cpu_limit": quotaLimit("tenant", "vCPUs"),
  "quota.tenant_default.memory_bytes": quotaLimit("tenant", "Bytes of memory"),
  "quota.tenant_default.disk_bytes": quotaLimit("tenant", "Bytes of disk"),
  "quota.tenant_default.instance_limit": quotaLimit("tenant", "Instances"),
  "quota.project_default.cpu_limit": quotaLimit("project", "vCPUs"),
  "quota.project_default.memory_bytes": quotaLimit("project", "Bytes of memory"),
  "quota.project_default.disk_bytes": quotaLimit("project", "Bytes of disk"),
  "quota.project_default.instance_limit": quotaLimit("project", "Instances"),
  "image.uploaded_bytes_max": {
    schema: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    default: IMAGE_UPLOADED_BYTES_DEFAULT,
    restart_required: false,
    description: "Bytes of uploaded images that one tenant may store",
  },
  "limits.caller_requests_per_minute": {
    schema: z.number().int().min(60).max(1_000_000_000),
    default: CALLER_REQUESTS_PER_MINUTE,
    restart_required: false,
    description: "Requests per minute from one caller to one server process",
  },
  "limits.caller_writes_per_minute": {
    schema: z.number().int().min(60).max(1_000_000_000),
    default: CALLER_WRITES_PER_MINUTE,
    restart_required: false,
    description: "Requests per minute from one caller to one server process, without GET and HEAD",
  },
  "session.lifetime_secs": {
    schema: seconds(900, 31_536_000),
    default: SESSION_LIFETIME_S_DEFAULT,
    restart_required: false,
    description: "Seconds from login to the end of the session, whether it is refreshed or not",
  },
  "session.web_idle_secs": {
    schema: seconds(900, 31_536_000),
    default: WEB_SESSION_IDLE_S_DEFAULT,
    restart_required: false,
    description: "Seconds without a request after which a session of the web console ends",
  },
  "cn.root_authorized_keys": {
    schema: z.array(
      z.string().max(16_384).regex(
        /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) [A-Za-z0-9+/]{16,}={0,2}(?: [\x20-\x7e]*)?$/,
        "must be an OpenSSH public key",
      ),
    ).max(100),
    default: [],
    restart_required: false,
    description: "OpenSSH public keys that may log in as root on nodes. Only nodes with QEMU get later changes",
  },
  "network.resolvers": {
    schema: z.array(z.union([z.ipv4(), z.ipv6()], { error: "must be an IP address" })).max(RESOLVERS_MAX),
    default: [],
    restart_required: false,
    description:
      "DNS servers that nodes ask for the guests of VPCs, in this order; []: guests resolve only names of their VPC. " +
      "A new value takes effect in a VPC when an object of the VPC changes next",
  },
  "network.ntp_servers": {
    schema: z.array(z.union([z.ipv4(), z.ipv6()], { error: "must be an IP address" })).max(NTP_SERVERS_MAX),
    default: [],
    restart_required: false,
    description:
      "Time servers that guests of VPCs learn by DHCP and DHCPv6; []: none. Guests reach them like other addresses, " +
      "by a NAT gateway or a floating IP. A new value takes effect in a VPC when an object of the VPC changes next",
  },
  "network.nic_limits": {
    schema: NicLimitClasses,
    default: [],
    restart_required: false,
    description:
      "Limits of each NIC, by the number of vCPUs of its instance. The first class whose cpu_max is null or at least " +
      "this number applies. connections_max limits open connections; packets_per_second_max and " +
      "bytes_per_second_max limit packets. Each limit applies to each direction separately; null: unlimited. A new " +
      "value takes effect in a VPC when an object of the VPC changes next",
  },
  "fetch.allowed_private": {
    schema: z.array(z.union([z.cidrv4(), z.cidrv6()], { error: "must be a network such as 10.20.0.0/16 or fd00::/8" }))
      .max(FETCH_RANGES_MAX),
    default: [],
    restart_required: false,
    description: "Private networks from which nodes, the server and opsctl may fetch images, indexes and keys of " +
      "issuers; []: public addresses only",
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type SettingKey = keyof typeof SETTINGS;

/** Returns whether a setting has this key. Names that all objects inherit, such as `constructor`, are not settings. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

/** Returns the environment variable that overrides a setting, for example BERTH_RESERVOIR_PERCENT_DEFAULT. */
export function settingVariable(key: SettingKey): string {
  return `BERTH_${key.replaceAll(".", "_").toUpperCase()}`;
}
