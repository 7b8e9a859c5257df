// The cluster settings: which keys there are, what values they take, and where the number comes from. Document 4, 7.2.
import { z } from "zod";
import { RESERVOIR_ENABLED_DEFAULT, RESERVOIR_PERCENT_DEFAULT, SAGA_RETENTION_S_DEFAULT } from "./limits.ts";

type Definition = {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly restart_required: boolean;
  readonly description: string;
};

const seconds = (low: number, high: number) => z.number().int().min(low).max(high);
const nullableUrl = z.url({ protocol: /^https?$/ }).nullable();

const weights = z.record(z.string(), z.number().min(0).max(10));
const profile = z.strictObject({ name: z.string(), description: z.string(), builtin: z.boolean(), weights });
const profiles = z.strictObject({ active: z.string(), profiles: z.array(profile).min(1) })
  .refine(({ active, profiles }) => profiles.some(({ name }) => name === active), "active must name a profile");

const SCORERS = [
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

function builtin(name: string, description: string, values: readonly number[]) {
  return {
    name,
    description,
    builtin: true,
    weights: Object.fromEntries(SCORERS.map((scorer, index) => [scorer, values[index] ?? 0])),
  };
}

/** Document 4, 4.4. */
const PROFILES_DEFAULT = {
  active: "spread",
  profiles: [
    builtin("spread", "Even load over nodes and fault domains", [2, 1, 1.5, 0, 1, 0.5, 0.5, 0.1, 1.5, 0.75, 0]),
    builtin("consolidate", "Few busy nodes", [1, 0.5, 0, 1.5, 1, 0.5, 0, 0.1, 0.5, 0.25, 0]),
    builtin("balanced", "Between spread and consolidate", [2, 1, 0.75, 0.75, 1, 0.5, 0.5, 0.1, 1, 0.5, 0]),
    builtin("performance", "Away from hot nodes", [2.5, 1.5, 1, 0, 1, 0.5, 1, 0, 2.5, 1.5, 0.5]),
    builtin("isolation", "Away from neighbours", [1.5, 1, 2, 0, 1, 0.5, 2.5, 0.1, 1.5, 0.75, 0]),
    builtin("power-save", "Nodes that can be switched off", [0.75, 0.5, 0, 2.5, 1, 0.5, 0, 0, 0.25, 0, 1.5]),
  ],
};

export const SETTINGS = {
  "provisioner.inprocess_disabled": {
    schema: z.boolean(),
    default: false,
    restart_required: true,
    description: "Do not run the provisioner in this process",
  },
  "sweeper.interval_secs": {
    schema: seconds(1, 3_600),
    default: 60,
    restart_required: true,
    description: "Seconds between sweeps for stale jobs and abandoned operations",
  },
  "sweeper.stale_claim_threshold_secs": {
    schema: seconds(30, 86_400),
    default: 600,
    restart_required: true,
    description: "Seconds without a renewal after which a claimed job has failed",
  },
  "dhcp.reconcile_interval_secs": {
    schema: seconds(10, 86_400),
    default: 300,
    restart_required: true,
    description: "Seconds between passes over DHCP leases",
  },
  "dhcp.lease_gc_threshold_secs": {
    schema: seconds(3_600, Number.MAX_SAFE_INTEGER),
    default: 604_800,
    restart_required: true,
    description: "Seconds an idle DHCP lease is kept",
  },
  "metrics.backend": {
    schema: z.enum(["memory", "clickhouse"]),
    default: "memory",
    restart_required: true,
    description: "Where node metrics go",
  },
  "metrics.clickhouse_url": {
    schema: nullableUrl,
    default: null,
    restart_required: true,
    description: "URL of the ClickHouse server for node metrics",
  },
  "imds.enabled_default": {
    schema: z.boolean(),
    default: true,
    restart_required: true,
    description: "Whether instances get the metadata service",
  },
  "imds.hop_limit_default": {
    schema: z.number().int().min(1).max(64),
    default: 1,
    restart_required: true,
    description: "IP hop limit of metadata answers",
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
    schema: seconds(3_600, Number.MAX_SAFE_INTEGER),
    default: SAGA_RETENTION_S_DEFAULT,
    restart_required: true,
    description: "Seconds that ended operations are kept; stuck ones stay",
  },
  "placement.profiles": {
    schema: profiles,
    default: PROFILES_DEFAULT,
    restart_required: false,
    description: "Weights of the placement scorers, and which profile is active",
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
    description: "Summaries missed before a node's load counts as unknown",
  },
  "placement.load_materializer.clickhouse_url": {
    schema: nullableUrl,
    default: null,
    restart_required: true,
    description: "URL of the ClickHouse server to read node load from",
  },
  "migration.sync_delta_threshold_bytes": {
    schema: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
    default: 52_428_800,
    restart_required: false,
    description: "Bytes left to copy at which a migration pauses its source",
  },
  "migration.max_sync_rounds": {
    schema: z.number().int().min(1).max(1_000),
    default: 10,
    restart_required: false,
    description: "Copy rounds after which a migration pauses its source anyway",
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
    description: "OpenSSH public keys that may log in as root on every node",
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type SettingKey = keyof typeof SETTINGS;

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

/** The environment variable that shadows a stored value: BERTH_RESERVOIR_PERCENT_DEFAULT. */
export function settingVariable(key: SettingKey): string {
  return `BERTH_${key.replaceAll(".", "_").toUpperCase()}`;
}
