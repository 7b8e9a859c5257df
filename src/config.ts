// Reads and validates the configuration in the environment once, at the start. The server does not start with an
// invalid value.
import type { Cidr } from "./lib/net/ip-address.ts";
import { parseCidr } from "./lib/net/ip-address.ts";
import { databaseUrls } from "./db/database-hosts.ts";
import { API_KEY_FORM, parseApiKey } from "./lib/ids/api-key.ts";
import type { IdentityService } from "./auth/issuer-credential.ts";
import { isIssuerUrl, ISSUER_URL_RULE } from "./auth/issuer-url.ts";
import type { ImageStoreConfig } from "./image-store/store.ts";
import type { TlsFiles } from "./http/tls-files.ts";
import {
  APPROVE_PER_MINUTE_DEFAULT,
  CONNECTIONS_MAX,
  CONSOLE_DIAL_S,
  LOGIN_ACCOUNT_PER_MINUTE,
  LOGIN_PER_MINUTE,
  REGISTER_PER_MINUTE_DEFAULT,
} from "./contract/limits.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Config = {
  readonly host: string;
  readonly port: number;
  /** The URL of the database; null: use the embedded PostgreSQL in dataDir. */
  readonly databaseUrl: string | null;
  /** The URL of the database itself, if databaseUrl is the URL of a pooler; otherwise null. */
  readonly directUrl: string | null;
  /** The database URL of the user that runs migrations, if the user of DATABASE_URL may not run them. */
  readonly ownerUrl: string | null;
  readonly dataDir: string;
  /**
   * The directory of a published image index that the server serves in addition to the API; null: the server serves no
   * index.
   */
  readonly indexSite: string | null;
  readonly rootKey: string | null;
  readonly lab: boolean;
  readonly labNodes: number;
  readonly approvePerMinute: number;
  readonly registerPerMinute: number;
  readonly loginPerMinute: number;
  /** The limit on failed logins per minute to one account, from all addresses together. */
  readonly loginAccountPerMinute: number;
  /** The identity service whose tokens are also accepted, or null. */
  readonly identity: IdentityService | null;
  readonly trustedProxies: readonly Cidr[];
  /** The files of the server's certificate; null: plain HTTP, for the loopback interface or behind a proxy. */
  readonly tls: TlsFiles | null;
  /** Whether a proxy in front of the server handles slow clients, so that Deno.serve is enough. */
  readonly behindProxy: boolean;
  /** Maximum number of open connections of this process. It must be below the limit of open files. */
  readonly connectionsMax: number;
  /** Where uploaded images are stored; null: this site stores none. */
  readonly imageStore: ImageStoreConfig | null;
  /** Seconds that a console waits for its node. */
  readonly consoleDialS: number;
  /** The address at which nodes reach this process, for consoles; null: nodes use their own endpoint. */
  readonly relayUrl: string | null;
  readonly logLevel: "debug" | "info" | "warning" | "error";
  readonly env: Environment;
};

const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
const LAB_NODES_MAX = 100;

/** Reads and validates the environment. Throws an Error that names the variable and the rule. */
export function readConfig(env: Environment): Config {
  const rootKey = env["BERTH_ROOT_KEY"] ?? null;
  if (rootKey !== null && parseApiKey(rootKey) === null) {
    throw new Error(`BERTH_ROOT_KEY must have the form ${API_KEY_FORM}`);
  }
  const lab = flag(env, "BERTH_LAB");
  return {
    // The name localhost is replaced by its address, because Deno's permission to listen on a name covers all ports.
    host: (env["HOST"] || "localhost").replace(/^localhost$/, "127.0.0.1"),
    port: whole(env, "PORT", { standard: 8080, low: 0, high: 65_535 }),
    databaseUrl: databaseUrl(env, "DATABASE_URL"),
    directUrl: databaseUrl(env, "BERTH_DIRECT_DATABASE_URL"),
    ownerUrl: databaseUrl(env, "BERTH_OWNER_DATABASE_URL"),
    dataDir: env["BERTH_DATA_DIR"] || ".berth",
    indexSite: env["INDEX_SITE"] || null,
    rootKey,
    lab,
    labNodes: whole(env, "BERTH_LAB_NODES", { standard: 0, low: 0, high: LAB_NODES_MAX }),
    approvePerMinute: whole(env, "BERTH_APPROVE_PER_MINUTE", {
      standard: APPROVE_PER_MINUTE_DEFAULT,
      low: 1,
      high: 1e6,
    }),
    registerPerMinute: whole(env, "BERTH_REGISTER_PER_MINUTE", {
      standard: REGISTER_PER_MINUTE_DEFAULT,
      low: 1,
      high: 1e6,
    }),
    loginPerMinute: whole(env, "BERTH_LOGIN_PER_MINUTE", { standard: LOGIN_PER_MINUTE, low: 1, high: 1e6 }),
    loginAccountPerMinute: whole(env, "BERTH_LOGIN_ACCOUNT_PER_MINUTE", {
      standard: LOGIN_ACCOUNT_PER_MINUTE,
      low: 1,
      high: 1e6,
    }),
    identity: identityService(env),
    trustedProxies: proxies(env["BERTH_TRUSTED_PROXIES"] ?? ""),
    tls: tlsFiles(env),
    behindProxy: flag(env, "BERTH_BEHIND_PROXY"),
    connectionsMax: whole(env, "BERTH_CONNECTIONS_MAX", { standard: CONNECTIONS_MAX, low: 10, high: 1e6 }),
    imageStore: imageStore(env),
    consoleDialS: whole(env, "BERTH_CONSOLE_DIAL_S", { standard: CONSOLE_DIAL_S, low: 1, high: CONSOLE_DIAL_S }),
    relayUrl: origin(env, "BERTH_RELAY_URL"),
    logLevel: level(env["BERTH_LOG_LEVEL"] ?? "info"),
    env,
  };
}

/** Reads the URL of a database, which may name several servers. */
function databaseUrl(env: Environment, name: string): string | null {
  const url = env[name] || null;
  try {
    if (url !== null) databaseUrls(url);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
  return url;
}

function flag(env: Environment, name: string): boolean {
  const value = env[name] ?? "0";
  if (value !== "0" && value !== "1") throw new Error(`${name} must be 0 or 1`);
  return value === "1";
}

function whole(env: Environment, name: string, rule: { standard: number; low: number; high: number }): number {
  const text = env[name];
  if (text === undefined || text === "") return rule.standard;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= rule.low && value <= rule.high) return value;
  throw new Error(`${name} must be a whole number from ${rule.low} to ${rule.high}`);
}

/**
 * Reads the identity service, or returns null. The audience is required: otherwise the server would accept tokens that
 * the identity service issued for other services.
 */
function identityService(env: Environment): IdentityService | null {
  const issuer = issuerUrl(env, "BERTH_IDENTITY_ISSUER");
  const jwks_url = issuerUrl(env, "BERTH_IDENTITY_JWKS_URL");
  const audience = env["BERTH_IDENTITY_AUDIENCE"] || null;
  const client = identityClient(env);
  if (issuer !== null && audience !== null) return { issuer, audience, jwks_url, client };
  if (issuer === null && audience === null && jwks_url === null && client === null) return null;
  throw new Error("BERTH_IDENTITY_ISSUER and BERTH_IDENTITY_AUDIENCE must be set together");
}

/** Reads the client with which operators sign in to the web console; null if it is not set. */
function identityClient(env: Environment): IdentityService["client"] {
  const id = env["BERTH_IDENTITY_CLIENT_ID"] || null;
  const secret = env["BERTH_IDENTITY_CLIENT_SECRET"] || null;
  if (id !== null && secret !== null) return { id, secret };
  if (id === null && secret === null) return null;
  throw new Error("BERTH_IDENTITY_CLIENT_ID and BERTH_IDENTITY_CLIENT_SECRET must be set together");
}

function issuerUrl(env: Environment, name: string): string | null {
  const text = env[name] || null;
  if (text === null || isIssuerUrl(text)) return text;
  throw new Error(`${name} ${ISSUER_URL_RULE}`);
}

/** Reads the folder or the bucket of uploaded images; null if neither is set. */
function imageStore(env: Environment): ImageStoreConfig | null {
  const folder = env["BERTH_IMAGE_DIR"] || null;
  const url = env["BERTH_IMAGE_BUCKET"] || null;
  if (folder !== null && url !== null) throw new Error("set one of BERTH_IMAGE_DIR and BERTH_IMAGE_BUCKET, not both");
  if (folder !== null) return { kind: "folder", folder };
  if (url === null) return null;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "") || /[?#]|\/$/.test(url)) {
    throw new Error("BERTH_IMAGE_BUCKET must be a URL such as https://s3.example/images, without a slash at its end");
  }
  const key_id = env["BERTH_IMAGE_BUCKET_KEY_ID"] || null;
  const secret = env["BERTH_IMAGE_BUCKET_SECRET"] || null;
  if (key_id === null || secret === null) {
    throw new Error("BERTH_IMAGE_BUCKET needs BERTH_IMAGE_BUCKET_KEY_ID and BERTH_IMAGE_BUCKET_SECRET");
  }
  return { kind: "bucket", url, key_id, secret, region: env["BERTH_IMAGE_BUCKET_REGION"] || "us-east-1" };
}

/** Reads an address of a server: its scheme, host and port. */
function origin(env: Environment, name: string): string | null {
  const text = env[name] || null;
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isOrigin) return url.origin;
  throw new Error(`${name} must be an address such as https://berth-1.example:8080, without a path`);
}

function tlsFiles(env: Environment): TlsFiles | null {
  const cert = env["BERTH_TLS_CERT"] || null;
  const key = env["BERTH_TLS_KEY"] || null;
  if (cert !== null && key !== null) return { cert, key };
  if (cert === null && key === null) return null;
  throw new Error("BERTH_TLS_CERT and BERTH_TLS_KEY must be set together");
}

function proxies(text: string): Cidr[] {
  return text.split(",").map((each) => each.trim()).filter((each) => each !== "").map((each) => {
    const cidr = parseCidr(each.includes("/") ? each : `${each}/${each.includes(":") ? 128 : 32}`);
    if (cidr === null) {
      throw new Error(`BERTH_TRUSTED_PROXIES must be a list of addresses or CIDR blocks; ${each} is neither`);
    }
    return cidr;
  });
}

function level(text: string): Config["logLevel"] {
  const found = LOG_LEVELS.find((each) => each === text);
  if (found === undefined) throw new Error(`BERTH_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}`);
  return found;
}
