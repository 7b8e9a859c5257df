// Computes the interval at which nodes poll. The interval grows with the number of nodes, up to a maximum, to limit the
// rate of all polls.
import {
  AGENT_POLL_S_MAX,
  AGENT_POLL_S_MIN,
  AGENT_POLLS_PER_LEASE,
  AGENT_POLLS_PER_S,
  CN_LIVE_S,
} from "../contract/limits.ts";
import type { Db } from "../db/pool.ts";

/**
 * How long a count of the nodes is used. The count changes slowly: nodes are approved one by one, or a few hundred in a
 * minute.
 */
const COUNTED_MS = 10_000;
/**
 * The interval is at most CN_LIVE_S divided by this number. So a node stays live if at least one of this many
 * successive polls arrives.
 */
const POLLS_PER_LIVE = 3;

type Ports = {
  readonly db: Db;
  /** Reads how many seconds the lease of a job lasts. */
  readonly leaseS: () => Promise<number>;
  readonly now_ms: () => number;
};

/** Returns the function that reads the interval, in seconds. */
export function createPollInterval({ db, leaseS, now_ms }: Ports): () => Promise<number> {
  let known: Promise<number> | null = null;
  let until_ms = 0;

  async function read(): Promise<number> {
    const counted = "select count(*)::int as nodes from cn where state = 'approved'";
    const [{ rows }, lease_s] = await Promise.all([
      db.query<{ nodes: number }>(counted, [], "approved nodes"),
      leaseS(),
    ]);
    return pollIntervalS({ nodes: rows[0]!.nodes, lease_s });
  }

  return () => {
    if (known !== null && now_ms() < until_ms) return known;
    const reading = read();
    // A failed read is not kept.
    reading.catch(() => {
      if (known === reading) known = null;
    });
    [known, until_ms] = [reading, now_ms() + COUNTED_MS];
    return reading;
  };
}

/** Returns the interval for a number of approved nodes and a lease of jobs, in whole seconds. */
export function pollIntervalS({ nodes, lease_s }: { readonly nodes: number; readonly lease_s: number }): number {
  const longest = Math.min(AGENT_POLL_S_MAX, CN_LIVE_S / POLLS_PER_LIVE, lease_s / AGENT_POLLS_PER_LEASE);
  return Math.floor(Math.max(AGENT_POLL_S_MIN, Math.min(longest, nodes / AGENT_POLLS_PER_S)));
}
