// Stores the credentials that the node got with its approval. The server erases its copy of the API key at the first
// use of the key. So the file must be on disk before that use: otherwise a crash would lose the key.
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

const FIX = "remove it and restart the agent to register again";

export function credentialsPath(state_dir: string): string {
  return join(state_dir, "credentials.json");
}

/** Reads the credentials; null before the approval. Throws a Failure if the file is damaged or of another machine. */
export async function readCredentials(state_dir: string, server_uuid: string): Promise<Credentials | null> {
  const path = credentialsPath(state_dir);
  const text = await readPrivateFile(path);
  if (text === null) return null;
  const saved = parseCredentials(path, text);
  if (saved.server_uuid !== server_uuid) {
    throw new Failure(`${path} belongs to node ${saved.server_uuid}, this is ${server_uuid}; ${FIX}`, EXIT.auth);
  }
  return saved;
}

/**
 * Reads the API key, before the machine's UUID is known; null before the approval. Throws a Failure if the file is
 * damaged.
 */
export async function readSavedKey(state_dir: string): Promise<string | null> {
  const path = credentialsPath(state_dir);
  const text = await readPrivateFile(path);
  return text === null ? null : parseCredentials(path, text).api_key;
}

function parseCredentials(path: string, text: string): Credentials {
  const saved = credentialsOf(text);
  if (saved !== null) return saved;
  throw new Failure(`${path} is damaged; ${FIX}`, EXIT.auth);
}

function credentialsOf(text: string): Credentials | null {
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
