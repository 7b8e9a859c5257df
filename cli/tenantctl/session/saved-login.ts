// The saved login of `tenantctl login`: one key or session and its endpoint, in a file of mode 0600.
import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../../internal/private-file.ts";
import type { Credential, Session } from "../../internal/profile.ts";
import { tokensIn } from "../../internal/session.ts";
import type { Environment } from "../../internal/environment.ts";

/** `tenant_id` comes from the server. A session needs none: its token has a claim for it. */
export type SavedKey = Credential & { readonly tenant_id: string | null };
export type SavedLogin = SavedKey | Session;

function loginFile(environment: Environment): string {
  const xdg = environment.env.XDG_CONFIG_HOME ?? "";
  // XDG specification: a relative path is invalid and must be ignored.
  return join(isAbsolute(xdg) ? xdg : join(environment.home_dir, ".config"), "tenantctl", "login.json");
}

/** Reads the saved login. Returns null if none is saved. */
export async function readLogin(environment: Environment): Promise<SavedLogin | null> {
  const path = loginFile(environment);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  const login = loginIn(text);
  if (login === null) throw new Failure(`${path} is damaged; run tenantctl login again`, EXIT.auth);
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

export async function writeLogin(environment: Environment, login: SavedLogin): Promise<void> {
  await writeFileDurably(loginFile(environment), `${JSON.stringify(login, null, 2)}\n`);
}

export async function eraseLogin(environment: Environment): Promise<void> {
  await rm(loginFile(environment), { force: true });
}
