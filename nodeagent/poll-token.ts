// Saves the poll token of this machine's enrolment claim (docs/nodes.md). A restarted agent renews this claim, because
// the number of claims of a node is limited.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

function tokenPath(state_dir: string): string {
  return join(state_dir, "poll-token");
}

/** Reads the poll token. Returns null if it is absent or damaged; the agent then creates a new claim. */
export async function readPollToken(state_dir: string): Promise<string | null> {
  const token = (await readPrivateFile(tokenPath(state_dir)))?.trim() ?? "";
  return /^[0-9a-f]+$/.test(token) ? token : null;
}

export async function savePollToken(state_dir: string, token: string): Promise<void> {
  await writeFileDurably(tokenPath(state_dir), `${token}\n`);
}

export async function forgetPollToken(state_dir: string): Promise<void> {
  await rm(tokenPath(state_dir), { force: true });
}
