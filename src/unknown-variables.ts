// Warns of environment variables whose names begin with BERTH_ but that no program of Berth knows. Such a name is
// probably misspelt, and the server would silently use the default instead. Reads and logs names only, no values.
import type { Logger } from "@logtape/logtape";
import process from "node:process";
import { type SettingKey, SETTINGS, settingVariable } from "./contract/settings.ts";
import { nearNames } from "./lib/text/near-names.ts";

const PREFIX = "BERTH_";

/** The variables of the server, without the variables of settings (settingVariable). */
export const SERVER_VARIABLES = [
  "BERTH_APPROVE_PER_MINUTE",
  "BERTH_BEHIND_PROXY",
  "BERTH_CONNECTIONS_MAX",
  "BERTH_CONSOLE_DIAL_S",
  "BERTH_DATA_DIR",
  "BERTH_DIRECT_DATABASE_URL",
  "BERTH_IDENTITY_AUDIENCE",
  "BERTH_IDENTITY_CLIENT_ID",
  "BERTH_IDENTITY_CLIENT_SECRET",
  "BERTH_IDENTITY_ISSUER",
  "BERTH_IDENTITY_JWKS_URL",
  "BERTH_IMAGE_BUCKET",
  "BERTH_IMAGE_BUCKET_KEY_ID",
  "BERTH_IMAGE_BUCKET_REGION",
  "BERTH_IMAGE_BUCKET_SECRET",
  "BERTH_IMAGE_DIR",
  "BERTH_LAB",
  "BERTH_LAB_NODES",
  "BERTH_LOGIN_ACCOUNT_PER_MINUTE",
  "BERTH_LOGIN_PER_MINUTE",
  "BERTH_LOG_LEVEL",
  "BERTH_OWNER_DATABASE_URL",
  "BERTH_REGISTER_PER_MINUTE",
  "BERTH_RELAY_URL",
  "BERTH_ROOT_KEY",
  "BERTH_SECRET_KEY",
  "BERTH_TLS_CERT",
  "BERTH_TLS_KEY",
  "BERTH_TRUSTED_PROXIES",
] as const;

/**
 * The variables of other programs: the node agent's service, the release, the Compose file, the guides and the tests.
 */
export const OTHER_VARIABLES = [
  "BERTH_DATABASE_PASSWORD",
  "BERTH_DRIVER",
  "BERTH_ENDPOINT",
  "BERTH_FAILOVER_KILLS",
  "BERTH_MIGRATIONS",
  "BERTH_NIC_TAGS",
  "BERTH_OLD",
  "BERTH_RACK_INSTANCES",
  "BERTH_RACK_NODES",
  "BERTH_RELEASE_PASSPHRASE",
] as const;

/**
 * The variables that Kubernetes sets in every pod for a service such as `berth-control-plane`:
 * BERTH_CONTROL_PLANE_SERVICE_HOST, BERTH_CONTROL_PLANE_PORT_80_TCP_ADDR and others.
 */
const OF_KUBERNETES = /^BERTH_(?:.+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_\d+_.+)$|^BERTH_.+_PORT$/;

const READ = [...SERVER_VARIABLES, ...(Object.keys(SETTINGS) as SettingKey[]).map(settingVariable)];
const KNOWN = new Set<string>([...READ, ...OTHER_VARIABLES]);

export type UnknownVariable = {
  readonly variable: string;
  /** The nearest name that the server reads; missing if no name is near. */
  readonly did_you_mean?: string;
};

/** Returns the names that begin with BERTH_ and that no program of Berth knows. */
export function unknownVariables(names: readonly string[]): UnknownVariable[] {
  return names.filter((name) => name.startsWith(PREFIX) && !KNOWN.has(name) && !OF_KUBERNETES.test(name)).map(
    (variable) => {
      const did_you_mean = nearNames(READ, variable)[0];
      return { variable, ...did_you_mean !== undefined && { did_you_mean } };
    },
  );
}

/**
 * Returns the names of the variables that begin with BERTH_. Returns none if the process may read only some variables:
 * Deno then refuses to list names. Therefore start.ts passes the names to the server with `task start`.
 */
export function variableNames(): string[] {
  if (Deno.permissions.querySync({ name: "env" }).state !== "granted") return [];
  return Object.keys(process.env).filter((name) => name.startsWith(PREFIX));
}

export function warnOfUnknownVariables(logger: Logger, names: readonly string[]): void {
  for (const unknown of unknownVariables(names)) {
    logger.warning("an environment variable with an unknown name is ignored", unknown);
  }
}
