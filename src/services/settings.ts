// Reads the effective settings. The environment overrides the stored value, which overrides the default.
import { z } from "zod";
import type { StoredSettings } from "../../actors/setting/reads.ts";
import { type SettingKey, SETTINGS, settingVariable } from "../contract/settings.ts";
import type { PlacementProfiles } from "../contract/placement-profiles.ts";
import type { NicLimitClasses } from "../contract/nic-limits.ts";
import type { SettingView } from "../contract/setting.ts";
import type { QuotaDefaults } from "../contract/tenancy.ts";
import type { DocumentSettings } from "../lib/net/network-content.ts";
import { activeProfile, type Profile } from "../lib/placement/profile.ts";

export type Settings = ReturnType<typeof createSettings>;

type Placement = { readonly profile: Profile; readonly load_stale_s: number };
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the functions that read settings. Throws when a variable in `env` has a value that its setting does not
 * allow.
 * @param readStored - Reads the stored values by their keys.
 */
export function createSettings(readStored: () => Promise<StoredSettings>, env: Environment) {
  const shadowing = new Map<SettingKey, unknown>();
  for (const key of Object.keys(SETTINGS) as SettingKey[]) {
    const text = env[settingVariable(key)];
    if (text !== undefined) shadowing.set(key, fromVariable(key, text));
  }

  function viewOf(key: SettingKey, stored: StoredSettings): SettingView {
    const { default: standard, restart_required, description } = SETTINGS[key];
    const own = stored.has(key) ? withinMaximum(key, stored.get(key)) : standard;
    return {
      key,
      value: shadowing.has(key) ? shadowing.get(key) : own,
      default: standard,
      env_override: shadowing.has(key) ? settingVariable(key) : null,
      restart_required,
      description,
    };
  }

  async function list(): Promise<SettingView[]> {
    const stored = await readStored();
    return (Object.keys(SETTINGS) as SettingKey[]).map((key) => viewOf(key, stored));
  }

  async function get(key: SettingKey): Promise<SettingView> {
    return viewOf(key, await readStored());
  }

  /** Reads the cluster defaults of the memory reservoir. */
  async function reservoir(): Promise<{ enabled: boolean; percent: number }> {
    const stored = await readStored();
    return {
      enabled: Boolean(viewOf("reservoir.enabled_default", stored).value),
      percent: Number(viewOf("reservoir.percent_default", stored).value),
    };
  }

  /** Reads the OpenSSH keys that may log in as root on every node. */
  async function rootAuthorizedKeys(): Promise<string[]> {
    return viewOf("cn.root_authorized_keys", await readStored()).value as string[];
  }

  /** Reads the blocks of private addresses from which the server and the nodes may fetch documents and images. */
  async function allowedPrivate(): Promise<string[]> {
    return viewOf("fetch.allowed_private", await readStored()).value as string[];
  }

  /** Reads the settings whose values are in network documents. */
  async function networkDocuments(): Promise<DocumentSettings> {
    const stored = await readStored();
    return {
      resolvers: viewOf("network.resolvers", stored).value as string[],
      ntp_servers: viewOf("network.ntp_servers", stored).value as string[],
      nic_limits: viewOf("network.nic_limits", stored).value as NicLimitClasses,
    };
  }

  /** Reads the scorer weights of the active profile, and for how many seconds a summary of a node's load is valid. */
  async function placement(): Promise<Placement> {
    return placementOf(await readStored());
  }

  function placementOf(stored: StoredSettings): Placement {
    const interval_s = Number(viewOf("placement.load_materializer.interval_secs", stored).value);
    const ticks = Number(viewOf("placement.load_materializer.staleness_ticks", stored).value);
    const profiles = viewOf("placement.profiles", stored).value as PlacementProfiles;
    return { profile: activeProfile(profiles), load_stale_s: interval_s * ticks };
  }

  /** Reads the interval, in seconds, between summaries of the nodes' load. */
  async function loadIntervalS(): Promise<number> {
    return Number(viewOf("placement.load_materializer.interval_secs", await readStored()).value);
  }

  /** Reads how many seconds a node may take for an operation on an instance. */
  async function instanceWaitS(): Promise<number> {
    return instanceWaitOf(await readStored());
  }

  function instanceWaitOf(stored: StoredSettings): number {
    return Number(viewOf("instance.create_wait_secs", stored).value);
  }

  /** Reads the limits of tenants and projects that have no quota of their own. */
  async function quotaDefaults(): Promise<QuotaDefaults> {
    return quotaDefaultsOf(await readStored());
  }

  function quotaDefaultsOf(stored: StoredSettings): QuotaDefaults {
    const limit = (key: SettingKey) => viewOf(key, stored).value as number | null;
    return {
      tenant: {
        cpu_limit: limit("quota.tenant_default.cpu_limit"),
        memory_bytes: limit("quota.tenant_default.memory_bytes"),
        disk_bytes: limit("quota.tenant_default.disk_bytes"),
        instance_limit: limit("quota.tenant_default.instance_limit"),
      },
      project: {
        cpu_limit: limit("quota.project_default.cpu_limit"),
        memory_bytes: limit("quota.project_default.memory_bytes"),
        disk_bytes: limit("quota.project_default.disk_bytes"),
        instance_limit: limit("quota.project_default.instance_limit"),
      },
    };
  }

  /** Reads the settings that are needed to create an instance, in one statement. */
  async function instanceCreation() {
    const stored = await readStored();
    return {
      ...placementOf(stored),
      quota_defaults: quotaDefaultsOf(stored),
      limit_ms: instanceWaitOf(stored) * 1_000,
      memory_bytes_min: Number(viewOf("instance.memory_bytes_min", stored).value),
    };
  }

  /**
   * Reads the maximum lifetime of a session in seconds. The lifetime begins at the login, and a refresh does not extend
   * it.
   */
  async function sessionLifetimeS(): Promise<number> {
    return Number(viewOf("session.lifetime_secs", await readStored()).value);
  }

  /** Reads the settings that limit a session of the web console. */
  async function webSessionLimits(): Promise<{ idle_s: number; lifetime_s: number }> {
    const stored = await readStored();
    return {
      idle_s: Number(viewOf("session.web_idle_secs", stored).value),
      lifetime_s: Number(viewOf("session.lifetime_secs", stored).value),
    };
  }

  /** Reads the rate limits of one caller at one process. */
  async function callerRates(): Promise<{ requests: number; writes: number }> {
    const stored = await readStored();
    return {
      requests: Number(viewOf("limits.caller_requests_per_minute", stored).value),
      writes: Number(viewOf("limits.caller_writes_per_minute", stored).value),
    };
  }

  return {
    list,
    get,
    callerRates,
    sessionLifetimeS,
    webSessionLimits,
    reservoir,
    quotaDefaults,
    rootAuthorizedKeys,
    allowedPrivate,
    networkDocuments,
    instanceWaitS,
    instanceCreation,
    loadIntervalS,
    placement,
    shadowed: [...shadowing.keys()],
  };
}

/**
 * Returns a stored value, but at most the maximum of its setting. An earlier release may have stored a larger value.
 */
function withinMaximum(key: SettingKey, value: unknown): unknown {
  const schema: z.ZodType = SETTINGS[key].schema;
  if (typeof value !== "number" || !(schema instanceof z.ZodNumber)) return value;
  return Math.min(value, schema.maxValue ?? Infinity);
}

function fromVariable(key: SettingKey, text: string): unknown {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is the value.
  }
  const checked = SETTINGS[key].schema.safeParse(value);
  if (!checked.success) throw new Error(`${settingVariable(key)}: ${checked.error.issues[0]?.message ?? "not valid"}`);
  return checked.data;
}
