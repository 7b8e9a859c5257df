// What is known of machines. A record that the control plane confirmed in the last seconds answers at once; any other is
// asked for, and when no answer comes in time a kept copy of an enrolled node speaks, marked as such and never older than
// its limit. Of any other machine no copy may speak, so it waits on: its packet is answered when the control plane has
// answered, and what came too late for this packet serves the next.
// Kept copies survive a restart: the control plane may run on nodes that need this booter to boot. The copy of an
// enrolled node holds the hash of its root password, as the machine's last boot got it: without it a node that boots meanwhile
// would have the password of its image. It goes when the node leaves, and with the age limit of the copy.
import { LOOKUP_LATE_MS, LOOKUP_MS, PENDING_MAX, RECORD_FRESH_MS, RECORDS_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { type ApiClient, ApiFault } from "./client.ts";
import type { BootFacts, PolicyFacts } from "./wire.ts";

export type Found = { readonly facts: BootFacts | null; readonly verified: boolean };
export type Kept = { readonly facts: BootFacts; readonly verified_at: number };

export type Records = {
  /** Known well enough to answer without asking; null otherwise. */
  fresh(mac: string): Found | null;
  /** Asks the control plane; never rejects. Answers within LOOKUP_MS where a copy may speak, else within LOOKUP_LATE_MS. */
  find(mac: string, client: Readonly<Record<string, unknown>>): Promise<Found>;
  /** The machine that an address belongs to. */
  macOf(address: string): string | null;
  policy(): PolicyFacts;
  /** Reads all records and the policy. Never rejects; says whether it could. */
  refresh(): Promise<boolean>;
  kept(): readonly Kept[];
  /** How many questions are under way. */
  pending(): number;
  reachable(): boolean;
};

export type RecordsOptions = {
  readonly plane: ApiClient;
  readonly cache_age_ms: number;
  readonly log: Log;
  readonly now: () => number;
  readonly start?: readonly Kept[];
  /** For tests, which cannot wait for the real one. */
  readonly late_ms?: number;
};

/** For a call whose own limit does not hold, as when its resolver hangs. */
const GRACE_MS = 250;
const NOTHING_KNOWN: Found = { facts: null, verified: false };

export function openRecords(options: RecordsOptions): Records {
  const { plane, cache_age_ms, log, now, start = [], late_ms = LOOKUP_LATE_MS } = options;
  const known = new Map<string, Kept>(start.map((each) => [each.facts.mac, each]));
  const byAddress = new Map<string, string>();
  const asked = new Map<string, Promise<Found>>();
  let policy: PolicyFacts = { enrollment_pi: null, enrollment_kernel_args: [] };
  let policy_at = -Infinity;
  let reachable = false;
  for (const { facts } of known.values()) index(facts);

  function index({ address, mac }: BootFacts): void {
    if (address !== null) byAddress.set(address, mac);
  }

  function keep(facts: BootFacts): void {
    if (!known.has(facts.mac) && known.size >= RECORDS_MAX) return;
    const before = known.get(facts.mac)?.facts.address;
    if (before !== undefined && before !== null && byAddress.get(before) === facts.mac) byAddress.delete(before);
    const kept = facts.state === "enrolled" ? facts : withoutSecret(facts);
    known.set(facts.mac, { facts: kept, verified_at: now() });
    index(facts);
  }

  /** A clock that was set back makes a copy too old, not young again. */
  function maySpeak({ verified_at }: Kept): boolean {
    const age_ms = now() - verified_at;
    return age_ms >= 0 && age_ms <= cache_age_ms;
  }

  /** The copy of a record while the control plane is away. */
  function copy(mac: string): Found {
    const found = known.get(mac);
    return found !== undefined && maySpeak(found) ? { facts: found.facts, verified: false } : NOTHING_KNOWN;
  }

  /** Lists hold no secret: a node that is still the same keeps the one that is known. */
  function withKnownSecret(facts: BootFacts): BootFacts {
    const before = known.get(facts.mac)?.facts;
    if (before === undefined || before.server_uuid !== facts.server_uuid) return facts;
    return { ...facts, root_password_hash: before.root_password_hash };
  }

  async function ask(mac: string, client: Readonly<Record<string, unknown>>): Promise<Found> {
    try {
      const stale = now() - policy_at > RECORD_FRESH_MS;
      const [facts, newer] = await Promise.all([plane.seen(mac, client), stale ? plane.policy() : null]);
      if (newer !== null) takePolicy(newer);
      reached(true);
      if (facts !== null) keep(facts);
      return { facts, verified: true };
    } catch (error) {
      reached(false, error);
      return copy(mac);
    }
  }

  function takePolicy(newer: PolicyFacts): void {
    policy = newer;
    policy_at = now();
  }

  function reached(now_reachable: boolean, error?: unknown): void {
    if (reachable !== now_reachable || (error instanceof ApiFault && error.status !== null)) {
      log(now_reachable ? "plane.reached" : "plane.lost", {
        error: error === undefined ? null : error instanceof Error ? error.message : "unknown",
      });
    }
    reachable = now_reachable;
  }

  return {
    fresh(mac) {
      const found = known.get(mac);
      if (found === undefined) return null;
      const age_ms = now() - found.verified_at;
      if (age_ms < 0 || age_ms > RECORD_FRESH_MS || now() - policy_at > RECORD_FRESH_MS) return null;
      return { facts: found.facts, verified: true };
    },
    find(mac, client) {
      const under_way = asked.get(mac);
      if (under_way !== undefined) return under_way;
      if (asked.size >= PENDING_MAX) return Promise.resolve(copy(mac));
      const answer: Promise<Found> = new Promise((resolve) => {
        // The decision lets an unverified copy speak for enrolled nodes alone.
        const soon = setTimeout(() => copy(mac).facts?.state === "enrolled" && resolve(copy(mac)), LOOKUP_MS);
        const settle = (found: Found) => {
          clearTimeout(soon);
          clearTimeout(late);
          if (asked.get(mac) === answer) asked.delete(mac);
          resolve(found);
        };
        const late = setTimeout(() => settle(copy(mac)), late_ms + GRACE_MS);
        void ask(mac, client).then(settle);
      });
      asked.set(mac, answer);
      return answer;
    },
    macOf: (address) => byAddress.get(address) ?? null,
    policy: () => policy,
    async refresh() {
      const started = now();
      try {
        const [all, newer] = await Promise.all([plane.records(), plane.policy()]);
        takePolicy(newer);
        const listed = new Set(all.map(({ mac }) => mac));
        for (const facts of all) {
          if ((known.get(facts.mac)?.verified_at ?? -Infinity) <= started) keep(withKnownSecret(facts));
        }
        for (const [mac, { verified_at, facts }] of known) {
          if (listed.has(mac) || verified_at > started) continue;
          known.delete(mac);
          if (facts.address !== null && byAddress.get(facts.address) === mac) byAddress.delete(facts.address);
        }
        reached(true);
        return true;
      } catch (error) {
        reached(false, error);
        return false;
      }
    },
    // As long as it speaks: with cache_max_age_hours 0 no secret is ever on the disk.
    kept: () =>
      [...known.values()].map((each) => (
        cache_age_ms > 0 && maySpeak(each) ? each : { ...each, facts: withoutSecret(each.facts) }
      )),
    pending: () => asked.size,
    reachable: () => reachable,
  };
}

function withoutSecret(facts: BootFacts): BootFacts {
  return facts.root_password_hash === null ? facts : { ...facts, root_password_hash: null };
}
