// Shows the claim code to whoever stands at the console, and mirrors it to a file for whoever is logged in. The console
// is authoritative (document 2, Claim-code path): a file that cannot be written stops nothing.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { plainText } from "../cli/internal/plain-text.ts";
import { writeFileDurably } from "../cli/internal/private-file.ts";
import { type Agent, log } from "./agent.ts";

export async function showClaimCode(agent: Agent, code: string, expires_at: string | null): Promise<void> {
  const expiry = expires_at === null ? "" : `  (expires ${plainText(expires_at)})`;
  agent.environment.stdout.write(`\nClaim code: ${plainText(code)}${expiry}\n\n`);
  try {
    await writeFileDurably(mirrorPath(agent), `${code}\n`);
  } catch (error) {
    log(agent, `cannot write ${mirrorPath(agent)}: ${(error as Error).message}`);
  }
}

export async function hideClaimCode(agent: Agent): Promise<void> {
  try {
    await rm(mirrorPath(agent), { force: true });
  } catch (error) {
    log(agent, `cannot remove ${mirrorPath(agent)}: ${(error as Error).message}`);
  }
}

function mirrorPath({ state_dir }: Agent): string {
  return join(state_dir, "claim-code");
}
