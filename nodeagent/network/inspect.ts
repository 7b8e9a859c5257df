// Reads the kernel's state of a VPC and changes nothing: differences from the document, taps, and firewall counters.
import type { NetworkDocument, RuleCount } from "../../src/contract/network-document.ts";
import { changesOf } from "./changes.ts";
import { observeRouter } from "./observe.ts";
import { tapsOf } from "./observed-state.ts";
import { ROUTER_PREFIX } from "./names.ts";
import { listingOf, listRuleset } from "./router-firewall.ts";
import { ruleCountsOf } from "./rule-counts.ts";
import { wantedState } from "./router-state.ts";
import { rulesetOf } from "./ruleset.ts";
import type { Run } from "./run.ts";

/** Returns the names of the taps in a VPC's router; null if the router does not exist. */
export async function routerTaps(vni: number, run: Run): Promise<ReadonlySet<string> | null> {
  const namespace = `${ROUTER_PREFIX}${vni}`;
  return await run(["ip", "-n", namespace, "-j", "link"]).then(tapsOf, () => null);
}

/**
 * Returns the commands that would make the router equal to the document, and one more line if the ruleset differs.
 * Returns only one line if the router does not exist.
 */
export async function differences(
  document: NetworkDocument,
  underlay_address: string,
  run: Run,
): Promise<readonly string[]> {
  const namespace = `${ROUTER_PREFIX}${document.vni}`;
  const taps = await routerTaps(document.vni, run);
  if (taps === null) return [`the router ${namespace} does not exist`];
  const { ip, bridge } = changesOf(await observeRouter(namespace, run), wantedState(document, underlay_address, taps));
  const present = await listRuleset((argv) => run(["ip", "netns", "exec", namespace, ...argv]));
  const wanted = await listingOf(rulesetOf(document, taps), taps, run);
  return [...bridge, ...ip[4], ...ip[6], ...(present === wanted ? [] : ["the firewall differs from the document"])];
}

/** Returns what each firewall rule and NAT gateway of a VPC has counted since the VPC's router was created. */
export async function ruleCounts(vni: number, run: Run): Promise<readonly RuleCount[]> {
  return ruleCountsOf(
    await run(["ip", "netns", "exec", `${ROUTER_PREFIX}${vni}`, "nft", "list", "table", "inet", "berth"]),
  );
}
