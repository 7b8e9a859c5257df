// Reads the kernel's counters of packets and bytes: one counter for each firewall rule and each NAT gateway. Packets of
// established connections do not reach the rules. So a counter counts the first packet of an allowed connection, and
// each packet that a rule drops. The count of a NAT gateway has the gateway's id in place of a rule's id.
import { RULE_COUNTS_MAX } from "../../src/contract/limits.ts";
import type { RuleCount } from "../../src/contract/network-document.ts";

/** In a rule, `return`, `drop` or the translation of a NAT gateway follows the counter. */
const COUNTED = /counter packets (\d+) bytes (\d+) (?:\w+|snat ip6? to \S+) comment "([^"]*)"/g;
const UNCOUNTED = /counter ((?:\w+|snat ip6? to \S+) comment "([^"]*)")/g;

/** Reads the counters of the rules that `nft list table inet berth` prints. */
export function ruleCountsOf(listing: string): readonly RuleCount[] {
  return [...listing.matchAll(COUNTED)]
    .map(([, packets, bytes, rule_id = ""]) => ({ rule_id, packets: Number(packets), bytes: Number(bytes) }));
}

/** Returns a ruleset whose counters begin with these values, so that replacing the ruleset does not reset them. */
export function withCounts(ruleset: string, counts: readonly RuleCount[]): string {
  const by_rule = new Map(counts.map((count) => [count.rule_id, count]));
  return ruleset.replace(UNCOUNTED, (line, rest: string, rule_id: string) => {
    const count = by_rule.get(rule_id);
    return count === undefined ? line : `counter packets ${count.packets} bytes ${count.bytes} ${rest}`;
  });
}

/** Chooses the counters that the node reports. */
export type CountReports = {
  /** Returns the counters that changed since their last report, at most as many as one poll may have. */
  changed(): Promise<readonly RuleCount[]>;
  /** Records that the server has received a report. */
  arrived(counts: readonly RuleCount[]): void;
};

/** @param read returns the counters of the rules of each VPC */
export function createCountReports(read: () => Promise<readonly (readonly RuleCount[])[]>): CountReports {
  let reported: ReadonlyMap<string, RuleCount> = new Map();
  return {
    changed: async () => {
      const counts = (await read()).flat();
      // Forgets rules that are gone.
      reported = new Map(counts.flatMap(({ rule_id }) => {
        const known = reported.get(rule_id);
        return known === undefined ? [] : [[rule_id, known] as const];
      }));
      return counts.filter(({ rule_id, packets, bytes }) => {
        const known = reported.get(rule_id);
        return known?.packets !== packets || known.bytes !== bytes;
      }).slice(0, RULE_COUNTS_MAX);
    },
    arrived: (counts) => {
      reported = new Map([...reported, ...counts.map((count) => [count.rule_id, count] as const)]);
    },
  };
}
