// Tests the routes of operations. Some tests insert operations of another build, because such operations remain after
// an upgrade or a downgrade.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { watchHold } from "./open-polls.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
afterEach(() => vi.restoreAllMocks());

const list = async (query = "") => (await t.call("GET", `/v1/operations${query}`)).body;
const show = (id: string, query = "") => t.call("GET", `/v1/operations/${id}${query}`);

async function joined(): Promise<{ readonly id: string; readonly server_uuid: string }> {
  const { server_uuid, claim_code } = await t.register({ hostname: "joiner" });
  await t.approve(claim_code);
  const [{ id }] = await list(`?resource_scope=cn&resource_id=${server_uuid}`);
  return { id, server_uuid };
}

/**
 * Inserts copies of an operation and returns their ids. `columns` lists column names and values in turn, as SQL. The
 * copies get these values instead of the operation's values.
 */
async function put(like: string, count: number, columns: string): Promise<string[]> {
  const { rows } = await t.db.query<{ id: string }>(
    `insert into saga select p.* from saga s cross join generate_series(1, $2::int) n
      cross join lateral jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), ${columns})) p
      where s.id = $1 returning id`,
    [like, count],
  );
  return rows.map(({ id }) => id);
}

/** Inserts an operation of a kind that this build does not know. The operation is in its second step. */
async function foreign(state: "running" | "stuck"): Promise<string> {
  const like = await joined();
  await show(like.id, "?wait=10");
  const step = (status: string) =>
    `jsonb_build_object('status', '${status}', 'started_at', null, 'ended_at', null, 'error', null, 'undo_error', null,
                        'job_id', null)`;
  const [id = ""] = await put(
    like.id,
    1,
    `'saga', 'of-another-build', 'state', '${state}', 'done_at', null, 'step', 'second', 'attempts', 0, 'due_at',
     berth_now(), 'stuck_reason', ${state === "stuck" ? "'undo of step second: no'" : "null"}, 'steps',
     jsonb_build_object('first', ${step("succeeded")}, 'second', ${step("running")})`,
  );
  await t.db.query("update saga set wake_at = berth_now() where id = $1 and state = 'running'", [id]);
  return id;
}

test("the operation of an approval succeeds and shows its step", async () => {
  const { id, server_uuid } = await joined();
  const { status, body } = await show(id, "?wait=10");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id,
    kind: "node-join",
    state: "succeeded",
    references: [{ scope: "cn", id: server_uuid }],
    stuck_reason: null,
    error: null,
    time_created: expect.any(String),
    time_done: expect.any(String),
    params: { server_uuid, hostname: "joiner" },
    progress: { completed_steps: 1, total_steps: 1, current_step: null },
  });
  expect(body.steps).toMatchObject([{
    index: 0,
    name: "joined",
    status: "succeeded",
    output: { server_uuid, joined_at: expect.any(String) },
    error_message: null,
    undo_error: null,
  }]);
});

test("the list is an array with the newest operation first, and has at most 50 operations if the request has no limit", async () => {
  const like = await joined();
  await show(like.id, "?wait=10");
  await put(like.id, 250, "'created_at', berth_now() - interval '1 hour' - n * interval '1 second'");
  const newest = await joined();
  const page = await list();
  expect(page).toHaveLength(50);
  expect(page[0].id).toBe(newest.id);
  const times = page.map((each: { time_created: string }) => each.time_created);
  expect(times).toEqual([...times].sort().reverse());
  expect(Object.keys(page[0]).sort()).toEqual([
    "error",
    "id",
    "kind",
    "references",
    "state",
    "stuck_reason",
    "time_created",
    "time_done",
  ]);
  expect(await list("?limit=200")).toHaveLength(200);
});

test("pages that after_id selects contain each operation once", async () => {
  const whole = await list("?limit=200");
  const seen = await list("?limit=77");
  seen.push(...await list(`?limit=77&after_id=${seen.at(-1).id}`));
  seen.push(...await list(`?limit=46&after_id=${seen.at(-1).id}`));
  // The newest operation may end between the reads, so the test compares only ids.
  const ids = (operations: readonly { id: string }[]) => operations.map(({ id }) => id);
  expect(ids(seen)).toEqual(ids(whole));
});

test("after_id of a deleted operation is refused, because an empty list would hide older operations", async () => {
  const like = await joined();
  await show(like.id, "?wait=10");
  const [stuck = "", ended = "", newest = ""] = [
    ...await put(
      like.id,
      1,
      "'created_at', berth_now() - interval '3 days', 'state', 'stuck', 'stuck_reason', 'no', 'done_at', null",
    ),
    ...await put(like.id, 1, "'created_at', berth_now() - interval '2 days'"),
    ...await put(like.id, 1, "'created_at', berth_now() - interval '1 day'"),
  ];
  const after = async (id: string) => (await list(`?after_id=${id}`)).map(({ id }: { id: string }) => id);
  expect([await after(newest), await after(ended), await after(stuck)]).toEqual([[ended, stuck], [stuck], []]);
  await t.db.query("delete from saga where id = $1", [ended]);
  const { status, body } = await t.call("GET", `/v1/operations?after_id=${ended}`);
  expect([status, body.message]).toEqual([
    400,
    "after_id: the operation was not found, perhaps because it was deleted; read the list from the start",
  ]);
});

test.each(["limit=0", "limit=201", "limit=x", "after_id=x", "resource_scope=planet&resource_id=1"])(
  "the query %s gets 400",
  async (query) => {
    expect((await t.call("GET", `/v1/operations?${query}`)).status).toBe(400);
  },
);

test.each(["resource_scope=cn", `resource_id=${randomUUID()}`])(
  "a resource filter with only one of its two parameters (%s) gets 400 InvalidRequest",
  async (query) => {
    expect(await t.call("GET", `/v1/operations?${query}`)).toMatchObject({
      status: 400,
      body: { error_code: "InvalidRequest" },
    });
  },
);

test.each([2, 20])(
  "a request with wait=%i for a running operation gets its answer after exactly that many seconds",
  async (wait) => {
    const id = await foreign("running");
    const begun = watchHold(wait * 1_000);
    let answered = false;
    const waiting = show(id, `?wait=${wait}`).finally(() => answered = true);
    const over = await begun();
    expect(answered).toBe(false);
    over();
    expect((await waiting).body.state).toBe("running");
  },
);

test("a request that waits gets its answer when the operation ends, and wait=21 gets 400", async () => {
  const id = await foreign("running");
  const begun = watchHold(20_000);
  const waiting = show(id, "?wait=20");
  await begun();
  await t.db.query("update saga set state = 'unwound', done_at = berth_now() where id = $1", [id]);
  // The test never fires the timer of the wait, so only the end of the operation can end the wait.
  expect((await waiting).body.state).toBe("unwound");
  expect((await show(id, "?wait=21")).status).toBe(400);
});

test("a request with wait for an operation that is not running gets its answer at once", async () => {
  const id = await foreign("stuck");
  const timers = vi.spyOn(globalThis, "setTimeout");
  expect((await show(id, "?wait=20")).body).toMatchObject({ state: "stuck", stuck_reason: "undo of step second: no" });
  expect(timers.mock.calls.filter(([, ms]) => ms === 20_000)).toEqual([]);
});

test("the server does not change an operation of another build, and shows its recorded steps", async () => {
  const id = await foreign("running");
  await t.plane.pass();
  const { body } = await show(id);
  expect(body).toMatchObject({
    state: "running",
    progress: { completed_steps: 1, total_steps: 2, current_step: "second" },
  });
});

test("an operation of another build cannot be abandoned, since this build cannot undo it", async () => {
  const id = await foreign("running");
  const answer = await t.call("POST", `/v1/operations/${id}/abandon`);
  expect(answer).toMatchObject({ status: 409, body: { error_code: "Conflict" } });
  expect((await show(id)).body.state).toBe("running");
});

test("a finished operation cannot be abandoned, and an unknown operation gets 404", async () => {
  const { id } = await joined();
  await show(id, "?wait=10");
  expect(await t.call("POST", `/v1/operations/${id}/abandon`)).toMatchObject({
    status: 409,
    body: { message: "the operation has already ended (succeeded)" },
  });
  expect((await t.call("POST", `/v1/operations/${randomUUID()}/abandon`)).status).toBe(404);
  expect((await show(randomUUID())).status).toBe(404);
});
