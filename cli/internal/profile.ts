// Reads and writes profiles: their endpoints and aliases in config.toml, and their credentials in credentials.toml
// (mode 0600). A credential is stored with its endpoint and is sent only to this endpoint, even if config.toml changes.
import { isAbsolute, join } from "node:path";
import type { Tokens } from "../../src/contract/identity.ts";
import { EXIT } from "./exit-code.ts";
import { parseEndpoint } from "./endpoint.ts";
import { Failure, usageFailure } from "./failure.ts";
import { readPlainFile, readPrivateFile, writeFileDurably } from "./private-file.ts";
import { tokensIn } from "./session.ts";
import type { Environment } from "./environment.ts";

export const DEFAULT_PROFILE = "default";

/** The aliases of one profile: maps the name of each alias to the words of its command line. */
export type Aliases = ReadonlyMap<string, readonly string[]>;
export type Profiles = {
  default_profile: string | null;
  endpoints: Map<string, string>;
  /** The aliases of each profile, by the profile's name. A profile without aliases may be missing. */
  aliases: Map<string, Aliases>;
};
export type Credential = { readonly endpoint: string; readonly api_key: string };
export type Session = Tokens & { readonly endpoint: string; readonly username: string };
export type SavedCredential = Credential | Session;

export function configFolder(environment: Environment): string {
  const xdg = environment.env.XDG_CONFIG_HOME ?? "";
  // XDG specification: a relative path is invalid and must be ignored.
  return join(isAbsolute(xdg) ? xdg : join(environment.home_dir, ".config"), "opsctl");
}

export function checkProfileName(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usageFailure(
      "a profile name is 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit",
    );
  }
  return name;
}

export async function readProfiles(environment: Environment): Promise<Profiles> {
  const path = join(configFolder(environment), "config.toml");
  const table = await parseToml(path, await readPlainFile(path));
  const endpoints = new Map<string, string>();
  const aliases = new Map<string, Aliases>();
  for (const [name, entry] of entriesOf(table.profile)) {
    const source = `${path}: endpoint of profile ${name}`;
    if (typeof entry.endpoint !== "string") throw usageFailure(`${source} is missing`);
    endpoints.set(name, parseEndpoint(entry.endpoint, source));
    const known = Object.entries(entry.alias ?? {}).filter((each): each is [string, string[]] => isWords(each[1]));
    if (known.length > 0) aliases.set(name, new Map(known));
  }
  const { default_profile } = table;
  return { default_profile: typeof default_profile === "string" ? default_profile : null, endpoints, aliases };
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}

export async function writeProfiles(environment: Environment, profiles: Profiles): Promise<void> {
  const { stringify } = await import("smol-toml");
  const profile = Object.fromEntries(
    [...profiles.endpoints].map(([name, endpoint]) => {
      const aliases = profiles.aliases.get(name);
      return [name, {
        endpoint,
        ...aliases !== undefined && aliases.size > 0 && { alias: Object.fromEntries(aliases) },
      }];
    }),
  );
  const chosen = profiles.default_profile === null ? {} : { default_profile: profiles.default_profile };
  await writeFileDurably(join(configFolder(environment), "config.toml"), stringify({ ...chosen, profile }), 0o644);
}

export async function readCredentials(environment: Environment): Promise<Map<string, SavedCredential>> {
  const path = join(configFolder(environment), "credentials.toml");
  const table = await parseToml(path, await readPrivateFile(path));
  const credentials = new Map<string, SavedCredential>();
  for (const [name, entry] of entriesOf(table.profile)) {
    const { endpoint, api_key, username } = entry;
    const tokens = tokensIn(entry);
    if (typeof endpoint !== "string") continue;
    if (typeof api_key === "string") credentials.set(name, { endpoint, api_key });
    else if (tokens !== null) credentials.set(name, { endpoint, username: String(username ?? ""), ...tokens });
  }
  return credentials;
}

export async function writeCredentials(
  environment: Environment,
  credentials: Map<string, SavedCredential>,
): Promise<void> {
  const { stringify } = await import("smol-toml");
  const path = join(configFolder(environment), "credentials.toml");
  await writeFileDurably(path, stringify({ profile: Object.fromEntries(credentials) }));
}

async function parseToml(path: string, text: string | null): Promise<Record<string, unknown>> {
  if (text === null) return {};
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch {
    // The parser's message quotes the line, which may contain a secret.
    throw new Failure(`${path} is not valid TOML`, EXIT.usage);
  }
}

function entriesOf(table: unknown): [string, Record<string, unknown>][] {
  if (typeof table !== "object" || table === null) return [];
  return Object.entries(table).filter((entry) => typeof entry[1] === "object" && entry[1] !== null);
}
