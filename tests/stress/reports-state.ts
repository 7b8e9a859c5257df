// Defines the changes in the database that a replayed report may cause. Any other changed row is a violation.
import type { Db } from "../../src/db/pool.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import type { ReportKind } from "./reports-record.ts";

export type SiteState = { readonly rows: Dump; readonly transitions: ReadonlyMap<string, number> };
type Row = Record<string, unknown>;

/**
 * Tables that are not compared:
 * - logs and positions in logs, stored replies, uses of keys and rate limits
 * - values that are computed from the times of reports
 * - claims, because a replayed registration without proof may create a claim
 * - the two tables of network changes, because maintenance merges old changes; readState reads generations instead
 */
const LEFT_OUT = [
  "enrolment_claim",
  "transition",
  "seen",
  "idempotency",
  "audit_event",
  "audit_head",
  "denial_window",
  "api_key_use",
  "rate_bucket",
  "load_pass",
  "cn_load_sample",
  "instance_metrics",
  "instance_load",
  "instance_load_done",
  "usage_counter",
  "usage_traffic",
  "usage_day",
  "usage_closed",
  "cn_load_fleet",
  "cn_load_hour",
  "cn_load_summary",
  "webhook_cursor",
  "vpc_change",
  "vpc_generation",
];

/**
 * Columns that may change, by table. They contain times of reports and lease renewals, and the progress of jobs and
 * setups. A node's version may change because the transitions in NOTED are logged.
 */
const MAY_MOVE: Readonly<Record<string, (row: Row, at: { readonly in_hand: boolean }) => readonly string[]>> = {
  cn: ({ state }) => ["version", ...(state === "setting_up" ? ["setup_progress"] : [])],
  cn_signal: () => ["last_seen", "status_at"],
  cn_capacity: () => ["reported_at"],
  job_signal: (_row, { in_hand }) => in_hand ? ["renewed_at", "step", "percent", "progress_at"] : [],
};

/** Transitions that are logged exactly once per accepted replay, and do not change the node's state. */
const NOTED: readonly (readonly [event: string, kind: ReportKind])[] = [
  ["announce", "announce"],
  ["setup_progressed", "setup progress"],
];
/** Matches the names of the budgets that limit claims. The auto-approve window's budget must not change. */
const COUNTS_CLAIMS = /^claims|^unproven-nodes$/;
/** The log entries of an accepted registration without proof, which creates or renews a claim. */
const REGISTRATIONS = ["enrolment-claim register absent>live", "enrolment-claim renew live>live"];
const isRefresh = (what: string) => /^cn refresh (\w+)>\1$/.test(what);
/** The audit entry of a denied request of a known caller. */
const DENIAL = "request deny none>denied";

export async function readState(db: Db): Promise<SiteState> {
  const dump = await dumpTables(db, LEFT_OUT);
  const jobs = new Set((dump.get("job") ?? []).map(rowOf).filter(({ state }) => state === "in_progress").map(idOf));
  const rows = new Map([...dump].map(([table, texts]) => {
    if (table === "budget") return [table, texts.filter((text) => !COUNTS_CLAIMS.test(String(rowOf(text)["name"])))];
    const mayMove = MAY_MOVE[table];
    if (mayMove === undefined) return [table, texts];
    return [
      table,
      texts.map((text) => {
        const row = rowOf(text);
        const moving = mayMove(row, { in_hand: jobs.has(row["job_id"]) });
        return JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !moving.includes(name))));
      }),
    ];
  }));
  const generations = await db.query("select id, berth_vpc_generation(id) as generation from vpc order by id");
  rows.set("generation of vpc", generations.rows.map((row) => JSON.stringify(row)));
  const counted = await db.query<{ what: string; count: number }>(
    `select concat(actor_kind, ' ', event, ' ', from_state, '>', to_state) as what, count(*)::int as count
       from transition group by 1`,
  );
  return { rows, transitions: new Map(counted.rows.map(({ what, count }) => [what, count])) };
}

const rowOf = (text: string): Row => JSON.parse(text);
const idOf = ({ id }: Row): unknown => id;

export type Taken = {
  /** Counts the replays of a kind with this status. */
  answered(kind: ReportKind, status: number): number;
  /** Counts the replays of all kinds with this status. */
  withStatus(status: number): number;
};

/** Lists the changes between two states that replays must not cause. */
export function effects(before: SiteState, after: SiteState, taken: Taken): string[] {
  const grown = [...after.transitions].map(([what, count]) =>
    [what, count - (before.transitions.get(what) ?? 0)] as const
  ).filter(([, count]) => count !== 0);
  const noted = new Map<string, number>();
  let registrations = 0;
  const wrong = grown.flatMap(([what, count]) => {
    if (what === DENIAL) return count <= taken.withStatus(403) ? [] : [`${count} denials were logged`];
    if (REGISTRATIONS.includes(what) || isRefresh(what)) {
      registrations += count;
      return [];
    }
    const [actor, event = "", path = ""] = what.split(" ");
    const [from, to] = path.split(">");
    if (actor !== "cn" || from !== to || !NOTED.some(([name]) => name === event)) return [`${count} times ${what}`];
    noted.set(event, (noted.get(event) ?? 0) + count);
    return [];
  });
  const miscounted = NOTED.flatMap(([event, kind]) => {
    const [found, due] = [noted.get(event) ?? 0, taken.answered(kind, 200)];
    return found === due ? [] : [`${found} transitions ${event} for ${due} accepted reports`];
  });
  const registered = taken.answered("registration", 200);
  if (registrations !== registered) miscounted.push(`${registrations} of ${registered} registrations were logged`);
  return [...wrong, ...miscounted, ...changedRows(before.rows, after.rows)];
}
