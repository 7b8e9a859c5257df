// What a replayed report may move, and what it may not: every row of every table as it was, but for what is named here.
import type { Db } from "../../src/db/pool.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import type { ReportKind } from "./reports-record.ts";

export type SiteState = { readonly rows: Dump; readonly transitions: ReadonlyMap<string, number> };
type Row = Record<string, unknown>;

/**
 * What happened, was denied and was answered, as opposed to what is; what is computed from when capacities were told; and
 * the claims of registrations without proof with their budgets: a replay may make one, which changes no node.
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
  "cn_load_hour",
  "cn_load_summary",
];

/**
 * Columns that say when or how far, by table: when a node was last heard, when a lease began anew, how far a job or a setup
 * in hand is; and the number of its versions that a node's record has, since it is noted that it announced itself again.
 */
const MAY_MOVE: Readonly<Record<string, (row: Row, at: { readonly in_hand: boolean }) => readonly string[]>> = {
  cn: ({ state }) => ["version", ...(state === "setting_up" ? ["setup_progress"] : [])],
  cn_signal: () => ["last_seen", "status_at"],
  cn_capacity: () => ["reported_at"],
  job_signal: (_row, { in_hand }) => in_hand ? ["renewed_at", "step", "percent", "progress_at"] : [],
};

/** Messages that are noted each time, and leave the node in the state that it was in: one for each that was taken. */
const NOTED: readonly (readonly [event: string, kind: ReportKind])[] = [
  ["announce", "announce"],
  ["setup_progressed", "setup progress"],
];
/** Budgets of claims. That of the auto-approve window must not move. */
const COUNTS_CLAIMS = /^claims|^unproven-nodes$/;
/** What a registration that was taken is noted as: without proof a claim, by the node's key a refresh. */
const REGISTRATIONS = ["enrolment-claim register absent>live", "enrolment-claim renew live>live"];
const isRefresh = (what: string) => /^cn refresh (\w+)>\1$/.test(what);
/** A known caller that may not do what it asked for is noted, by the gate. */
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
  const counted = await db.query<{ what: string; count: number }>(
    `select concat(actor_kind, ' ', event, ' ', from_state, '>', to_state) as what, count(*)::int as count
       from transition group by 1`,
  );
  return { rows, transitions: new Map(counted.rows.map(({ what, count }) => [what, count])) };
}

const rowOf = (text: string): Row => JSON.parse(text);
const idOf = ({ id }: Row): unknown => id;

export type Taken = {
  /** How many replays of a kind were answered with this status. */
  answered(kind: ReportKind, status: number): number;
  /** And of all kinds. */
  withStatus(status: number): number;
};

/** What was moved between the two that replays must not move. */
export function effects(before: SiteState, after: SiteState, taken: Taken): string[] {
  const grown = [...after.transitions].map(([what, count]) =>
    [what, count - (before.transitions.get(what) ?? 0)] as const
  ).filter(([, count]) => count !== 0);
  const noted = new Map<string, number>();
  let registrations = 0;
  const wrong = grown.flatMap(([what, count]) => {
    if (what === DENIAL) return count <= taken.withStatus(403) ? [] : [`${count} denials were noted`];
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
    return found === due ? [] : [`${found} transitions ${event} of ${due} that were taken`];
  });
  const registered = taken.answered("registration", 200);
  if (registrations !== registered) miscounted.push(`${registrations} of ${registered} registrations were noted`);
  return [...wrong, ...miscounted, ...changedRows(before.rows, after.rows)];
}
