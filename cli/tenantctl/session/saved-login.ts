// Reads and writes the logins that `tenantctl login` saves, one for each profile. A login is a key or a session with
// its endpoint, in a file of mode 0600. The profile `default` is login.json; the others are in the folder profiles. The
// file default-profile names the profile that commands use without --profile and TENANTCTL_PROFILE.
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { readPlainFile, readPrivateFile, writeFileDurably } from "../../internal/private-file.ts";
import { checkProfileName, type Credential, DEFAULT_PROFILE, type Session } from "../../internal/profile.ts";
import { tokensIn } from "../../internal/session.ts";
import type { Environment } from "../../internal/environment.ts";
import type { Flags } from "../flags.ts";

/** `tenant_id` comes from the server. A session needs no tenant_id, because its token has a claim with the tenant. */
export type SavedKey = Credential & { readonly tenant_id: string | null };
export type SavedLogin = SavedKey | Session;

function configFolder(environment: Environment): string {
  const xdg = environment.env.XDG_CONFIG_HOME ?? "";
  // XDG specification: a relative path is invalid and must be ignored.
  return join(isAbsolute(xdg) ? xdg : join(environment.home_dir, ".config"), "tenantctl");
}

const SUFFIX = ".json";

function loginFile(environment: Environment, profile: string): string {
  const folder = configFolder(environment);
  return profile === DEFAULT_PROFILE ? join(folder, "login.json") : join(folder, "profiles", profile + SUFFIX);
}

/** Returns the profile from --profile, TENANTCTL_PROFILE or `tenantctl profile use`, else `default`. */
export async function profileOf(environment: Environment, { profile }: Pick<Flags, "profile">): Promise<string> {
  if (profile !== undefined) return checkProfileName(profile);
  const named = environment.env.TENANTCTL_PROFILE;
  return named ? checkProfileName(named) : await defaultProfile(environment);
}

export async function defaultProfile(environment: Environment): Promise<string> {
  const chosen = (await readPlainFile(join(configFolder(environment), "default-profile")))?.trim();
  return chosen ? checkProfileName(chosen) : DEFAULT_PROFILE;
}

export async function useProfile(environment: Environment, profile: string): Promise<void> {
  await writeFileDurably(join(configFolder(environment), "default-profile"), `${profile}\n`, 0o644);
}

/** Lists the names of the profiles that have a login. */
export async function listProfiles(environment: Environment): Promise<string[]> {
  const files = await readdir(join(configFolder(environment), "profiles")).catch(() => []);
  const names = files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length)).sort();
  const has_default = await readPrivateFile(loginFile(environment, DEFAULT_PROFILE)) !== null;
  return has_default ? [DEFAULT_PROFILE, ...names] : names;
}

/** Returns the command that saves a login in a profile. */
export function loginCommand(profile: string): string {
  return profile === DEFAULT_PROFILE ? "tenantctl login" : `tenantctl login --profile ${profile}`;
}

/** Reads the saved login of a profile. Returns null if none is saved. Throws a Failure if the file is damaged. */
export async function readLogin(environment: Environment, profile: string): Promise<SavedLogin | null> {
  const path = loginFile(environment, profile);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  const login = loginIn(text);
  if (login === null) throw new Failure(`${path} is damaged; run ${loginCommand(profile)} again`, EXIT.auth);
  return login;
}

/** Returns null for damaged text. Drops the parser's message, which may quote the key. */
function loginIn(text: string): SavedLogin | null {
  try {
    const saved = JSON.parse(text);
    const { endpoint, api_key, tenant_id, username } = saved;
    const tokens = tokensIn(saved);
    if (typeof endpoint !== "string") return null;
    if (typeof api_key === "string") {
      return { endpoint, api_key, tenant_id: typeof tenant_id === "string" ? tenant_id : null };
    }
    return tokens === null ? null : { endpoint, username: String(username ?? ""), ...tokens };
  } catch {
    return null;
  }
}

export async function writeLogin(environment: Environment, profile: string, login: SavedLogin): Promise<void> {
  await writeFileDurably(loginFile(environment, profile), `${JSON.stringify(login, null, 2)}\n`);
}

export async function eraseLogin(environment: Environment, profile: string): Promise<void> {
  await rm(loginFile(environment, profile), { force: true });
}

/** Renames a profile. The new name must have no login. */
export async function renameLogin(environment: Environment, profile: string, to: string): Promise<void> {
  const target = loginFile(environment, to);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rename(loginFile(environment, profile), target);
}
