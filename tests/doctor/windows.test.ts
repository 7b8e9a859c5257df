// Tests the check of INV-14 for all auto-approve windows in the transition log, with correct and forged openings, ends
// and approvals.
import { afterAll, beforeAll, expect, test } from "vitest";
import { AUTO_APPROVE_SECS_MAX } from "../../src/contract/limits.ts";
import type { DbClient } from "../../src/db/pool.ts";
import { nodeChecks } from "../../src/doctor/nodes.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const { query: CHECK } = nodeChecks("all").find(({ title }) =>
  title.startsWith("no auto-approve window was too long")
)!;

/** The numbers of the windows in the history of this test, in the order of their openings. */
const COUNTED = 1;
const LASTING = 2;
const CLOSED = 3;
const OPENED_OVER = 4;
const FULL = 5;
const WINDOW = (nth: number) =>
  `(select id from transition where event = 'open_window' order by id offset ${nth - 1} limit 1)`;
const APPROVED = "actor_kind = 'cn' and event = 'join' and to_state = 'approved'";

let t: TestControlPlane;

const open = async (duration_secs: number, count: number | null) =>
  okOf(await t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs, count } }));

async function statesOf(registrations: number): Promise<string[]> {
  const states: string[] = [];
  for (let each = 0; each < registrations; each++) states.push((await t.register()).state);
  return states;
}

beforeAll(async () => {
  t = await openTestControlPlane();
  expect(await statesOf(1)).toEqual(["pending"]);
  await open(600, 2);
  expect(await statesOf(3)).toEqual(["approved", "approved", "pending"]);
  await open(600, null);
  expect(await statesOf(3)).toEqual(["approved", "approved", "approved"]);
  await t.advance(601);
  expect(await statesOf(1)).toEqual(["pending"]);
  await open(AUTO_APPROVE_SECS_MAX, 5);
  expect(await statesOf(1)).toEqual(["approved"]);
  okOf(await t.call("DELETE", "/v1/cn-auto-approve"));
  expect(await statesOf(1)).toEqual(["pending"]);
  await open(60, 4);
  await open(AUTO_APPROVE_SECS_MAX + 1_000, 1);
  expect(await statesOf(2)).toEqual(["approved", "pending"]);
}, 60_000);

afterAll(() => t?.close());

/** Runs these statements, returns the findings of the check, and rolls the statements back. */
function found(...statements: readonly string[]): Promise<string[]> {
  return t.db.withClient(async (client: DbClient) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    for (const statement of statements) {
      expect((await client.query(statement)).rowCount, statement).toBeGreaterThan(0);
    }
    const { rows } = await client.query<{ what: string }>(CHECK);
    await client.query("rollback");
    return rows.map(({ what }) => what.replace(/[0-9a-f-]{36}/, "N").replaceAll(/\d{4}-[-\d]+ [:.\d+]+/g, "T"));
  });
}

/**
 * Returns SQL that inserts a forged approval in the same commit as the transition `beside`. If `beside` is null, the
 * approval comes after all other transitions.
 */
const forged = (beside: string | null) =>
  `insert into transition (xid, actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
   select ${beside === null ? "pg_current_xact_id(), " : "xid, "} 'cn', gen_random_uuid(), gen_random_uuid(), 1,
          'register', 'absent', 'approved', gen_random_uuid(), ${beside === null ? "berth_now()" : "at"}
     from ${beside === null ? "(select) one" : `transition where id = ${beside}`}`;

const ask = (nth: number, field: string, value: number | null) =>
  `update transition set audit = jsonb_set(audit, '{payload,${field}}', '${value}') where id = ${WINDOW(nth)}`;

/** Returns SQL that moves the last approval in a window to this number of milliseconds after the window's end. */
const moved = (nth: number, ms: number) =>
  `update transition set at = (select at from transition where id = ${WINDOW(nth)})
     + interval '600 seconds' + interval '${ms} milliseconds'
    where id = (select max(id) from transition where ${APPROVED} and id < ${WINDOW(nth + 1)})`;

test("a history with full, expired, closed and replaced windows has no violation", async () => {
  expect(await found()).toEqual([]);
});

test("an approval above the window's count is found and shown with its number", async () => {
  expect(await found(ask(COUNTED, "count", 1))).toEqual([
    "node N, approved at T as number 2 of 1, window of T until T",
  ]);
  expect(await found(forged(null))).toEqual(["node N, approved at T as number 2 of 1, window of T until T"]);
});

test("an approval exactly at the end of a window is found; an approval one millisecond earlier is not", async () => {
  expect(await found(moved(LASTING, -1))).toEqual([]);
  expect(await found(moved(LASTING, 0))).toEqual([
    "node N, approved at T as number 3 of any, window of T until T",
  ]);
});

test("an approval after a window was closed, or before any window was opened, is found", async () => {
  const one_closed = `delete from transition where actor_kind = 'site' and id > ${WINDOW(CLOSED)}
    and event = 'open_window'`;
  const without = "node N, approved at T without a window";
  // Without the later openings, one approval is after the close of the third window.
  expect(await found(one_closed)).toEqual([without]);
  expect(await found("delete from transition where actor_kind = 'site'")).toEqual(Array(7).fill(without));
});

test("an approval in the same commit as an opening counts for the window before that opening", async () => {
  // The window before FULL still has room, the window before OPENED_OVER is closed, and the window before LASTING is
  // full.
  expect(await found(forged(WINDOW(FULL)))).toEqual([]);
  expect(await found(forged(WINDOW(OPENED_OVER)))).toEqual(["node N, approved at T without a window"]);
  expect(await found(forged(WINDOW(LASTING)))).toEqual([
    "node N, approved at T as number 3 of 2, window of T until T",
  ]);
});

test("a window of more than a day or without an end is found", async () => {
  expect(await found(ask(CLOSED, "effective_duration_secs", AUTO_APPROVE_SECS_MAX + 1))).toEqual([
    "window of T, until T",
  ]);
  expect(await found(ask(OPENED_OVER, "effective_duration_secs", null))).toEqual(["window of T, until "]);
});
