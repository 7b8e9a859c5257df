// Caches the boot records. The booter uses a record at once if the control plane confirmed the record and the boot
// policy within RECORD_FRESH_MS. Otherwise the booter asks the control plane. If no answer comes in time, an enrolled
// node gets its cached record, marked as not verified, unless the record is past its age limit. Any other machine waits
// for the control plane. If an answer is too late for one packet, the booter uses it for the next packet.
//
// The cache survives a restart, because the control plane may run on nodes that need this booter to boot. The cached
// record of an enrolled node contains the root password hash of its last boot. If the booter does not know the hash,
// the node boots with a locked root password (http/routes.ts). The booter does not know the hash of a node that never
// booted from this booter. It forgets the hash of a node that is no longer enrolled, and does not save the hash of a
// record that is past its age limit.
import { LOOKUP_LATE_MS, LOOKUP_MS, PENDING_MAX, RECORD_FRESH_MS, RECORDS_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { type ApiClient, ApiFault } from "./client.ts";
import type { BootFacts, PolicyFacts } from "./wire.ts";

export type Found = { readonly facts: BootFacts | null; readonly verified: boolean };
export type CachedRecord = { readonly facts: BootFacts; readonly verified_at: number };

export type Records = {
  /**
   * Returns the record if the control plane confirmed the record and the boot policy within RECORD_FRESH_MS; otherwise
   * null.
   */
  fresh(mac: string): Found | null;
  /**
   * Asks the control plane; never rejects. Returns the cached record as not verified in these cases: PENDING_MAX
   * lookups are in progress; the call fails; no answer comes in time. The time limit is LOOKUP_MS for an enrolled node
   * with a usable cached record, and `late_ms` for other machines. Returns no record if none is cached or the cached
   * record is past its age limit.
   */
  find(mac: string, client: Readonly<Record<string, unknown>>): Promise<Found>;
  /** Returns the MAC address of the record with this IP address, or null. */
  macOf(address: string): string | null;
  policy(): PolicyFacts;
  /** Reads all records and the policy. Never rejects; returns whether the reading succeeded. */
  refresh(): Promise<boolean>;
  /** Returns all cached records, without the password hashes of records that are too old to be used. */
  cached(): readonly CachedRecord[];
  /** Returns the number of lookups in progress. */
  pending(): number;
  reachable(): boolean;
};

export type RecordsOptions = {
  readonly api: ApiClient;
  readonly cache_age_ms: number;
  readonly log: Log;
  readonly now: () => number;
  readonly start?: readonly CachedRecord[];
  /**
   * The time limit of a lookup for a machine that is not an enrolled node with a cached record. The default is
   * LOOKUP_LATE_MS; tests set a shorter one.
   */
  readonly late_ms?: number;
};

/**
 * A call may ignore its own time limit, for example if name resolution hangs. The booter stops waiting for it after
 * this extra time.
 */
const GRACE_MS = 250;
const NOT_FOUND: Found = { facts: null, verified: false };

export function openRecords(options: RecordsOptions): Records {
  const { api, cache_age_ms, log, now, start = [], late_ms = LOOKUP_LATE_MS } = options;
  const known = new Map<string, CachedRecord>(start.map((each) => [each.facts.mac, each]));
  const byAddress = new Map<string, string>();
  const asked = new Map<string, Promise<Found>>();
  let policy: PolicyFacts = { enrollment_pi: null, enrollment_kernel_args: [] };
  let policy_at = -Infinity;
  let reachable = false;
  /** The record's MAC address for each member of an aggregate. */
  const members = new Map<string, string>();
  for (const { facts } of known.values()) index(facts);

  /**
   * Returns the MAC address under which the port has its record. All members of an aggregate share the record of one
   * member.
   */
  function recordMac(port: string): string {
    const mac = members.get(port) ?? port;
    return known.get(mac)?.facts.networking?.aggregate?.macs.includes(port) === true ? mac : port;
  }

  function index({ address, mac, networking }: BootFacts): void {
    for (const member of networking?.aggregate?.macs ?? []) members.set(member, mac);
    if (address !== null) byAddress.set(address, mac);
  }

  function keep(facts: BootFacts): void {
    if (!known.has(facts.mac) && known.size >= RECORDS_MAX) return;
    const before = known.get(facts.mac)?.facts.address;
    if (before !== undefined && before !== null && byAddress.get(before) === facts.mac) byAddress.delete(before);
    const cached = facts.state === "enrolled" ? facts : withoutSecret(facts);
    known.set(facts.mac, { facts: cached, verified_at: now() });
    index(facts);
  }

  /** Returns whether the record is within its age limit. A time in the future means that the clock was set back. */
  function isUsable({ verified_at }: CachedRecord): boolean {
    const age_ms = now() - verified_at;
    return age_ms >= 0 && age_ms <= cache_age_ms;
  }

  /** Returns the cached record as not verified, or NOT_FOUND if no record within its age limit is cached. */
  function fromCache(mac: string): Found {
    const found = known.get(recordMac(mac));
    return found !== undefined && isUsable(found) ? { facts: found.facts, verified: false } : NOT_FOUND;
  }

  /**
   * Returns a record from a list, which contains no password hash. Adds the cached hash if it belongs to the same node.
   */
  function withKnownSecret(facts: BootFacts): BootFacts {
    const before = known.get(facts.mac)?.facts;
    if (before === undefined || before.server_uuid !== facts.server_uuid) return facts;
    const { root_password_hash, root_password_known } = before;
    return { ...facts, root_password_hash, root_password_known };
  }

  async function ask(mac: string, client: Readonly<Record<string, unknown>>): Promise<Found> {
    try {
      const stale = now() - policy_at > RECORD_FRESH_MS;
      const [answer, newer] = await Promise.all([api.seen(mac, client), stale ? api.policy() : null]);
      if (newer !== null) takePolicy(newer);
      reached(true);
      const facts = answer === null ? null : { ...answer, root_password_known: true };
      if (facts !== null) keep(facts);
      return { facts, verified: true };
    } catch (error) {
      reached(false, error);
      return fromCache(mac);
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
      const found = known.get(recordMac(mac));
      if (found === undefined) return null;
      const age_ms = now() - found.verified_at;
      if (age_ms < 0 || age_ms > RECORD_FRESH_MS || now() - policy_at > RECORD_FRESH_MS) return null;
      return { facts: found.facts, verified: true };
    },
    find(mac, client) {
      const under_way = asked.get(mac);
      if (under_way !== undefined) return under_way;
      if (asked.size >= PENDING_MAX) return Promise.resolve(fromCache(mac));
      const answer: Promise<Found> = new Promise((resolve) => {
        // decision.ts accepts an unverified record only if its node is enrolled.
        const soon = setTimeout(() => fromCache(mac).facts?.state === "enrolled" && resolve(fromCache(mac)), LOOKUP_MS);
        const settle = (found: Found) => {
          clearTimeout(soon);
          clearTimeout(late);
          if (asked.get(mac) === answer) asked.delete(mac);
          resolve(found);
        };
        const late = setTimeout(() => settle(fromCache(mac)), late_ms + GRACE_MS);
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
        const [all, newer] = await Promise.all([api.records(), api.policy()]);
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
    // Hashes are kept only while the record is usable, so with cache_max_age_hours 0 no hash is written to disk.
    cached: () =>
      [...known.values()].map((each) => (
        cache_age_ms > 0 && isUsable(each) ? each : { ...each, facts: withoutSecret(each.facts) }
      )),
    pending: () => asked.size,
    reachable: () => reachable,
  };
}

function withoutSecret(facts: BootFacts): BootFacts {
  return { ...facts, root_password_hash: null, root_password_known: false };
}
