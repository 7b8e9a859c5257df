// Checks that the other booters of the site answer. A booter that does not answer is not a fault of this booter, so it
// causes only a warning.
import { type Finding, ok, warn } from "./check-finding.ts";
import { type BooterConfig, peerOrigin } from "./config.ts";

/** The time limit of a request to another booter. Setup scripts give up on a connection after 5 seconds, too. */
const PEER_MS = 5_000;

/** Requests the time from each of the other booters, because every booter serves the time. */
export async function peerFindings({ ur }: Pick<BooterConfig, "ur">, ask: typeof fetch = fetch): Promise<Finding[]> {
  return await Promise.all((ur?.peers ?? []).map(async (peer) => {
    const origin = peerOrigin(peer);
    try {
      const answer = await ask(`${origin}/time`, { redirect: "error", signal: AbortSignal.timeout(PEER_MS) });
      const text = (await answer.text()).trim();
      return answer.ok && !Number.isNaN(Date.parse(text)) ? ok(`ur.peers: ${origin} answers`) : warn(
        `ur.peers: ${origin} answers with ${answer.status}, but not as a booter does; check its address and port`,
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : "no answer";
      return warn(`ur.peers: ${origin} does not answer (${reason}); no setup can be handed over to it`);
    }
  }));
}
