// What `tenantctl login` keeps: one key or session and the endpoint it was made for, in a file of mode 0600.
import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../../internal/private-file.ts";
import type { Credential, Session } from "../../internal/profile.ts";
import { tokensIn } from "../../internal/session.ts";
import type { Environment } from "../../internal/environment.ts";

/** The tenant is what the server told of the key; a session's tokens carry it themselves. */
export type SavedKey = Credential & { readonly tenant_id: string | null };
export type SavedLogin = SavedKey | Session;

function loginFile(environment: Environment): string {
  const xdg = environment.env.XDG_CONFIG_HOME ?? "";
  // The XDG specification: a relative path is invalid and must be ignored.
  return join(isAbsolute(xdg) ? xdg : join(environment.home_dir, ".config"), "tenantctl", "login.json");
}

/** Null when nobody is logged in. */
export async function readLogin(environment: Environment): Promise<SavedLogin | null> {
  const path = loginFile(environment);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  const login = loginIn(text);
  if (login === null) throw new Failure(`${path} is damaged; run tenantctl login again`, EXIT.auth);
  return login;
}

/** The parser's own words quote the text, which may be the key, so they are kept from the reader. */
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
