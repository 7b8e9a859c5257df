// Prints the claim code on the console and writes it to a file for logged-in operators. The console is authoritative
// (docs/nodes.md, "The claim-code path"): a failure to write the file is only logged.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { plainText } from "../cli/internal/plain-text.ts";
import { writeFileDurably } from "../cli/internal/private-file.ts";
import { type Agent, log } from "./agent.ts";

type Place = Pick<Agent, "environment" | "state_dir">;

export async function showClaimCode(agent: Place, code: string, expires_at: string | null): Promise<void> {
  const expiry = expires_at === null ? "" : `  (expires ${plainText(expires_at)})`;
  agent.environment.stdout.write(`\nClaim code: ${plainText(code)}${expiry}\n\n`);
  try {
    await writeFileDurably(claimCodePath(agent), `${code}\n`);
  } catch (error) {
    log(agent, `cannot write ${claimCodePath(agent)}: ${(error as Error).message}`);
  }
}

export async function hideClaimCode(agent: Place): Promise<void> {
  try {
    await rm(claimCodePath(agent), { force: true });
  } catch (error) {
    log(agent, `cannot remove ${claimCodePath(agent)}: ${(error as Error).message}`);
  }
}

function claimCodePath({ state_dir }: Place): string {
  return join(state_dir, "claim-code");
}
