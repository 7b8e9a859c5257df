// What approval gave this node. The server erases its copy of the key when the key is first used, so the file must be on
// the disk before that: after a crash in between, nobody else has the key.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

export type Credentials = {
  readonly server_uuid: string;
  readonly api_key: string;
  readonly console_ticket_key_hex: string | null;
  readonly imds_token_key_hex: string | null;
  readonly migrate_ticket_key_hex: string | null;
};

export function credentialsPath(state_dir: string): string {
  return join(state_dir, "credentials.json");
}

/** Null when there are none yet. Throws a Failure when they are damaged or belong to another machine. */
export async function readCredentials(state_dir: string, server_uuid: string): Promise<Credentials | null> {
  const path = credentialsPath(state_dir);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  const saved = parseCredentials(text);
  const mend = `remove it and start the agent again to register`;
  if (saved === null) throw new Failure(`${path} is damaged; ${mend}`, EXIT.auth);
  if (saved.server_uuid !== server_uuid) {
    throw new Failure(`${path} belongs to node ${saved.server_uuid}, this is ${server_uuid}; ${mend}`, EXIT.auth);
  }
  return saved;
}

function parseCredentials(text: string): Credentials | null {
  try {
    const saved = JSON.parse(text) as Partial<Credentials>;
    return typeof saved.server_uuid === "string" && typeof saved.api_key === "string" ? saved as Credentials : null;
  } catch {
    return null;
  }
}

export async function saveCredentials(state_dir: string, credentials: Credentials): Promise<void> {
  await writeFileDurably(credentialsPath(state_dir), `${JSON.stringify(credentials, null, 2)}\n`);
}

export async function removeCredentials(state_dir: string): Promise<void> {
  await rm(credentialsPath(state_dir), { force: true });
}
