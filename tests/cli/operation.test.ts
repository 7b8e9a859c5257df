// Tests the commands of `opsctl operation`.
import { expect, test } from "vitest";
import type { OperationState } from "../../src/contract/enums.ts";
import { type Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const ID = "99999999-0000-4000-8000-000000000009";

function operation(state: OperationState, error: string | null = null) {
  const step = { index: 0, name: "mark", kind: "write", status: "succeeded", output: null, error_message: null };
  return {
    id: ID,
    kind: "node-join",
    state,
    references: [{ scope: "cn", id: "c1" }],
    stuck_reason: null,
    error,
    time_created: "2026-11-21T10:00:00Z",
    time_done: null,
    epoch: 1,
    params: {},
    progress: { completed_steps: 1, total_steps: 2, current_step: "notify" },
    steps: [
      { ...step, undo_error: null, job_id: null, started_at: "t1", ended_at: "t2" },
      { ...step, index: 1, name: "notify", status: "running", undo_error: null, started_at: null, ended_at: null },
    ],
  };
}

function states(...left: OperationState[]): Server {
  return () => ({ body: operation(left.length > 1 ? left.shift()! : left[0]!, null) });
}

test("`operation show` lists the steps with status, times and error", async () => {
  const ran = await opsctl(["operation", "show", ID], { server: states("running") });
  expect(ran.out()).toMatchSnapshot();
});

test("`operation wait` uses long polls and ends when the operation ends", async () => {
  const ran = await opsctl(["operation", "wait", ID], { server: states("pending", "running", "succeeded") });
  expect(ran.code).toBe(0);
  expect(ran.out()).toBe(`Operation ${ID} succeeded\n`);
  expect(ran.asked.map(({ query }) => query.wait)).toEqual(["20", "20", "20"]);
});

test("on a terminal, `operation wait` shows the steps at once, before a long poll", async () => {
  const server = states("running", "running", "succeeded");
  const ran = await opsctl(["operation", "wait", ID], { server, isTTY: true });
  expect(ran.asked.map(({ query }) => query.wait)).toEqual(["0", "20", "20"]);
  expect(ran.err().split("\r\u001b[K")[1]).toContain("running: 1 of 2 steps, notify");
  const whole = await opsctl(["operation", "wait", ID, "-o", "json"], { server: states("succeeded"), isTTY: true });
  expect(whole.asked.map(({ query }) => query.wait)).toEqual(["20"]);
});

test("a server without long polls gets at most one request per second", async () => {
  const ran = await opsctl(["operation", "wait", ID], { server: states("running", "running", "succeeded") });
  expect(ran.slept_ms).toEqual([1_000, 1_000]);
});

test("`operation wait` exits 6 after the time limit, and no long poll exceeds the remaining time", async () => {
  const ran = await opsctl(["operation", "wait", ID, "--timeout", "3"], { server: states("running") });
  expect(ran.code).toBe(6);
  expect(ran.err()).toBe(
    `running: 1 of 2 steps, notify\nerror: operation ${ID} is still running after 3 s\n`,
  );
  expect(ran.asked.map(({ query }) => query.wait)).toEqual(["3", "2", "1", "0"]);
});

test("--timeout 0 sends one request", async () => {
  const ran = await opsctl(["operation", "wait", ID, "--timeout", "0"], { server: states("running") });
  expect([ran.code, ran.asked.length]).toEqual([6, 1]);
});

test.each(
  [
    ["failed", "failed"],
    ["unwound", "failed and was rolled back"],
    ["stuck", "is stuck"],
  ] as const,
)("`operation wait` exits 1 if the operation ends as %s", async (state, end) => {
  const ran = await opsctl(["operation", "wait", ID], { server: () => ({ body: operation(state, "disk full") }) });
  expect([ran.code, ran.err()]).toEqual([1, `error: operation ${ID} ${end}: disk full\n`]);
});

test("if a drain left an instance on its node, `operation wait` and `cn drain` exit with 1 and report no rollback", async () => {
  const remaining = [{ instance_id: "i1", instance_name: "web1", reason: "no room", remedy: "add a node" }];
  const begun = operation("unwound", "1 instance is still on the node, web1: no room");
  const [first, move] = begun.steps;
  const ended = { ...begun, kind: "cn-drain", steps: [first, { ...move, output: { moved: 2, remaining } }] };
  const waited = await opsctl(["operation", "wait", ID], { server: () => ({ body: ended }) });
  const error = `error: operation ${ID} failed: 1 instance is still on the node, web1: no room\n`;
  expect([waited.code, waited.err()]).toEqual([1, error]);
  const server: Server = ({ method }) => ({ body: method === "POST" ? { operation_id: ID } : ended });
  const drained = await opsctl(["cn", "drain", ID], { server });
  expect([drained.code, drained.err()]).toEqual([1, `error: still on ${ID}: 1 instance\n`]);
  expect(drained.out()).toContain("web1  no room  add a node");
});

test("`operation wait --json` also prints a failed operation", async () => {
  const ran = await opsctl(["operation", "wait", ID, "--json"], { server: () => ({ body: operation("failed") }) });
  expect(JSON.parse(ran.out()).state).toBe("failed");
  expect(JSON.parse(ran.err()).error.exit_code).toBe(1);
});

test("`operation list` notes that older operations exist", async () => {
  const server: Server = ({ query }) => ({
    body: Array.from({ length: Number(query.limit) }, (_, i) => ({ ...operation("succeeded"), id: `op${i}` })),
  });
  const ran = await opsctl(["operation", "list", "--limit", "2"], { server });
  expect(ran.out().trimEnd().split("\n")).toHaveLength(3);
  expect(ran.err()).toContain("Older operations exist");
});

test("`operation list` shows only the first reference of each operation", async () => {
  const references = ["instance", "project", "tenant", "cn"].map((scope, at) => ({ scope, id: `id-${at}` }));
  const server: Server = () => ({ body: [{ ...operation("succeeded"), references }] });
  const lines = (await opsctl(["operation", "list"], { server })).out().split("\n");
  expect(lines[0]).toMatch(/^ID +KIND +STATE +OBJECT +AGE$/);
  expect(lines[1]).toContain("  instance:id-0  ");
  expect(lines[1]).not.toContain("project");
});

test("`operation abandon` prints the new state of the operation", async () => {
  const ran = await opsctl(["operation", "abandon", ID], { server: () => ({ body: operation("unwinding") }) });
  expect(ran.asked[0]).toMatchObject({ method: "POST", path: `/v1/operations/${ID}/abandon` });
  expect(ran.out()).toBe(`Abandoned operation ${ID}; it is now unwinding\n`);
});
