// What `tenantctl login` keeps: one key and the endpoint it was made for, in a file of mode 0600.
import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { EXIT } from "../../kit/exit-code.ts";
import { Failure } from "../../kit/failure.ts";
import { readPrivateFile, writeFileDurably } from "../../kit/private-file.ts";
import type { Credential } from "../../kit/profile.ts";
import type { World } from "../../kit/world.ts";

function loginFile(world: World): string {
  const xdg = world.env.XDG_CONFIG_HOME ?? "";
  // The XDG specification: a relative path is invalid and must be ignored.
  return join(isAbsolute(xdg) ? xdg : join(world.home_dir, ".config"), "tenantctl", "login.json");
}

/** Null when nobody is logged in. */
export async function readLogin(world: World): Promise<Credential | null> {
  const path = loginFile(world);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  try {
    const { endpoint, api_key } = JSON.parse(text);
    if (typeof endpoint === "string" && typeof api_key === "string") return { endpoint, api_key };
  } catch {
    // The parser's own words quote the text, which may be the key.
  }
  throw new Failure(`${path} is damaged; run tenantctl login again`, EXIT.auth);
}

export async function writeLogin(world: World, { endpoint, api_key }: Credential): Promise<void> {
  await writeFileDurably(loginFile(world), `${JSON.stringify({ endpoint, api_key }, null, 2)}\n`);
}

/** Works on a damaged file too. */
export async function eraseLogin(world: World): Promise<boolean> {
  const erased = await readLogin(world).then((login) => login !== null, () => true);
  await rm(loginFile(world), { force: true });
  return erased;
}
