// Replaces and compares the ruleset of a router in the kernel, and ends the connections that a new ruleset forbids or
// no longer translates.
import type { NetworkDocument, RuleCount } from "../../src/contract/network-document.ts";
import { forbiddenIds, forbiddenTable, parseConnections } from "./connections.ts";
import { ruleCountsOf, withCounts } from "./rule-counts.ts";
import { rulesetOf } from "./ruleset.ts";
import type { Run } from "./run.ts";
import { staleTranslations } from "./stale-translations.ts";

export type RouterFirewall = {
  /**
   * Replaces the ruleset unless the kernel still has it, and ends the open connections that the ruleset forbids or no
   * longer translates. Returns whether the ruleset was replaced. The first call of a process always replaces the
   * ruleset, because the process does not know the text of the ruleset in the kernel.
   */
  check(document: NetworkDocument, taps: ReadonlySet<string>): Promise<boolean>;
  /** Sets the ruleset of a new namespace, which has no counters and no connections. */
  begin(document: NetworkDocument, taps: ReadonlySet<string>): Promise<boolean>;
  /**
   * Does the same as `check`, but does not read the kernel's ruleset: compares the new text with the text that this
   * process set last.
   */
  change(document: NetworkDocument, taps: ReadonlySet<string>): Promise<boolean>;
  /** Returns whether the kernel has the ruleset that this process set last. */
  isAsSet(): Promise<boolean>;
  counts(): Promise<readonly RuleCount[]>;
};

/** `listing` is the kernel's listing of `text` and `forbidden` together; null until it is needed. */
type Last = {
  readonly text: string;
  readonly taps: ReadonlySet<string>;
  readonly forbidden: string;
  listing: string | null;
};

/** The text that marks the rules whose counters are kept. It occurs in no other part of a ruleset. */
const RULE_MARK = ' comment "';

/** @param inside runs a program in the router's namespace */
export function routerFirewall(inside: Run, run: Run): RouterFirewall {
  /** The ruleset and the table of forbidden connections that this process set last. */
  let last: Last | null = null;

  const listed = () => listRuleset(inside);
  const counts = () => inside(["nft", "list", "table", "inet", "berth"]).then(ruleCountsOf, () => []);

  async function isAsSet(): Promise<boolean> {
    if (last === null) return false;
    last.listing ??= await listingOf(last.text + last.forbidden, last.taps, run);
    return last.listing === await listed();
  }

  async function replace(document: NetworkDocument, taps: ReadonlySet<string>, text: string): Promise<void> {
    const before = last;
    last = null;
    const has_counters = before === null || before.text.includes(RULE_MARK);
    await inside(["nft", "-f", "-"], withCounts(text, has_counters ? await counts() : []));
    // The new rules are already in force. A connection that is not in this list begins later and obeys them.
    const connections = parseConnections(await inside(["conntrack", "-L", "-o", "id"]));
    const stale = staleTranslations(document, connections);
    // The program fails if the connections ended meanwhile. Such a failure must not stop the work on the document.
    for (const argv of stale) await inside(["conntrack", ...argv.split(" ")]).catch(() => {});
    const forbidden = forbiddenTable(forbiddenIds(document, connections));
    if (forbidden !== before?.forbidden) await inside(["nft", "-f", "-"], forbidden);
    last = { text, taps, forbidden, listing: null };
  }

  return {
    begin: async (document, taps) => {
      const text = rulesetOf(document, taps);
      last = null;
      await inside(["nft", "-f", "-"], text);
      last = { text, taps, forbidden: forbiddenTable([]), listing: null };
      return true;
    },
    check: async (document, taps) => {
      const text = rulesetOf(document, taps);
      const is_as_set = await isAsSet();
      if (is_as_set && last?.text === text) return false;
      if (!is_as_set) last = null;
      await replace(document, taps, text);
      return true;
    },
    change: async (document, taps) => {
      const text = rulesetOf(document, taps);
      if (last?.text === text) return false;
      await replace(document, taps, text);
      return true;
    },
    isAsSet,
    counts,
  };
}

/** Lists the ruleset of a router without its counters and without the addresses that it has learned. */
export async function listRuleset(inside: Run): Promise<string> {
  const listing = await inside(["nft", "-s", "list", "ruleset"]);
  return listing.replace(/^([\t ]+flags dynamic,timeout\n[\t ]+timeout \w+\n)[\t ]+elements = \{[^}]*\}\n/gm, "$1");
}

/** Loads a ruleset into a new namespace that has only these taps. Returns the kernel's listing of the ruleset. */
export async function listingOf(ruleset: string, taps: ReadonlySet<string>, run: Run): Promise<string> {
  const links = [...taps].map((tap) => `ip link add ${tap} type bridge &&`).join(" ");
  return await run(["unshare", "--net", "sh", "-c", `${links} nft -f - && nft -s list ruleset`], ruleset);
}
