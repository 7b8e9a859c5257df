// A command can wait for an operation on an instance in three ways: with one long request, with --wait, or with
// `operation wait` after --no-wait. Each way must work even if connections are lost.
import { expect, test } from "vitest";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import type { Asked, FakeAnswer, Server } from "../fake-environment.ts";
import { INSTANCE, PROJECT } from "./records.ts";
import { serving, tenantctl, TOKEN_ENV } from "./run.ts";

const SCOPED = { ...TOKEN_ENV, TENANTCTL_PROJECT: PROJECT };
const START = ["instance", "start", INSTANCE.id];
const DELETE = ["instance", "delete", INSTANCE.id, "--yes"];
const OPERATION: OperationSummary = {
  id: "12121212-0000-4000-8000-000000000012",
  kind: "instance-lifecycle",
  state: "running",
  references: [{ scope: "project", id: PROJECT }, { scope: "instance", id: INSTANCE.id }],
  stuck_reason: null,
  error: null,
  time_created: "2026-11-21T10:00:00.000Z",
  time_done: null,
};
const ACCEPTED: FakeAnswer = { status: 202, body: OPERATION };
const RUNS: FakeAnswer = {
  status: 409,
  headers: { "retry-after": "2" },
  body: {
    message: `the request with this Idempotency-Key still runs as operation ${OPERATION.id}`,
    error_code: "Conflict",
  },
};
const DONE: FakeAnswer = { body: INSTANCE };
const CUT = "cut";
const FAILED: FakeAnswer = { status: 502, body: { message: "start failed: no disk", error_code: "OperationFailed" } };
const GONE: FakeAnswer = { status: 404, body: { message: "Not Found", error_code: "NotFound" } };

/**
 * Returns a server and the requests that it received. The server answers a GET with `seen`, and other requests with
 * `answers` in their order.
 */
function serverWith(
  answers: readonly (FakeAnswer | typeof CUT)[],
  seen: FakeAnswer = { body: { ...INSTANCE, lifecycle: { state: "pending" } } },
) {
  const left = [...answers];
  const writes: Asked[] = [];
  const server: Server = (asked) => {
    if (asked.method === "GET") return seen;
    writes.push(asked);
    const next = left.shift();
    if (next === undefined) throw new Error("the test received more requests than it has answers for");
    if (next === CUT) throw new TypeError("fetch failed", { cause: new Error("connection reset") });
    return next;
  };
  const preferences = () => writes.map(({ headers }) => headers.prefer ?? "");
  const keys = () => new Set(writes.map(({ headers }) => headers["idempotency-key"]));
  return { server, writes, preferences, keys, left };
}

test("by default one long request waits for the result", async () => {
  const { server, writes, preferences } = serverWith([DONE]);
  const ran = await tenantctl(START, { env: SCOPED, server });
  expect([ran.code, ran.err(), writes.length, preferences()]).toEqual([0, "", 1, [""]]);
});

test("on a terminal, a command shows how long its request has waited, but not with -q", async () => {
  const slow: Server = async (asked) => {
    // The terminal does not show the time during the first second.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    return serverWith([DONE]).server(asked, new AbortController().signal);
  };
  const shown = await tenantctl(START, { env: SCOPED, server: slow });
  expect([shown.code, shown.err()]).toEqual([0, "\r\u001b[K[1 s] waiting for the server\r\u001b[K"]);
  const quiet = await tenantctl([...START, "-q"], { env: SCOPED, server: slow });
  expect([quiet.code, quiet.err()]).toEqual([0, ""]);
});

test("--no-wait prints the operation and does not wait", async () => {
  const { server, preferences } = serverWith([ACCEPTED, ACCEPTED]);
  const ran = await tenantctl([...START, "--no-wait"], { env: SCOPED, server });
  expect(preferences()).toEqual(["respond-async"]);
  expect(ran.out()).toBe(
    `operation:  ${OPERATION.id}\nkind:       instance-lifecycle\nstate:      running\ninstance:   ${INSTANCE.id}\n`,
  );
  expect([ran.code, ran.slept_ms]).toEqual([0, []]);
  const raw = await tenantctl([...START, "--no-wait", "-o", "json"], { env: SCOPED, server });
  expect(JSON.parse(raw.out())).toEqual(OPERATION);
});

test("`delete --no-wait` does not print that the instance is deleted", async () => {
  const ran = await tenantctl([...DELETE, "--no-wait"], { env: SCOPED, server: serverWith([ACCEPTED]).server });
  expect(ran.out()).toContain(OPERATION.id);
  expect(ran.out()).not.toContain("deleted");
});

test("--wait repeats the request with the same Idempotency-Key and shows the progress", async () => {
  const { server, preferences, keys, left } = serverWith([ACCEPTED, RUNS, RUNS, DONE]);
  const ran = await tenantctl([...START, "--wait", "-o", "table"], { env: SCOPED, server, isTTY: false });
  expect(preferences()).toEqual(["respond-async", "", "", ""]);
  expect([keys().size, left]).toEqual([1, []]);
  expect(ran.err()).toBe(`instance-lifecycle: instance ${INSTANCE.id} is pending\n`);
  expect(ran.out()).toContain(INSTANCE.id);
  const quiet = await tenantctl([...START, "--wait", "-o", "json"], {
    env: SCOPED,
    server: serverWith([ACCEPTED, RUNS, DONE]).server,
  });
  expect([quiet.err(), JSON.parse(quiet.out())]).toEqual(["", INSTANCE]);
});

test("--wait with -q shows no progress", async () => {
  const { server } = serverWith([ACCEPTED, RUNS, DONE]);
  const ran = await tenantctl([...START, "--wait", "-q"], { env: SCOPED, server });
  expect([ran.code, ran.err()]).toEqual([0, ""]);
});

test.each([
  [GONE, "instance deleted"],
  [{ status: 503, body: { message: "no database" } }, `the state of instance ${INSTANCE.id} is not known now`],
])("--wait continues if the read of the instance for the progress fails", async (seen, text) => {
  const { server, left } = serverWith([ACCEPTED, RUNS, DONE], seen);
  const ran = await tenantctl([...START, "--wait", "-o", "table"], { env: SCOPED, server, isTTY: false });
  expect([ran.code, left, ran.err()]).toEqual([0, [], `instance-lifecycle: ${text}\n`]);
});

test("on a terminal, the status is one line that is erased at the end", async () => {
  const ran = await tenantctl([...START, "--wait"], {
    env: SCOPED,
    server: serverWith([ACCEPTED, RUNS, RUNS, DONE]).server,
  });
  const shown = ran.err().split("\r\u001b[K");
  expect(shown).toEqual([
    "",
    `[0 s] instance-lifecycle: instance ${INSTANCE.id} is pending`,
    `[1 s] instance-lifecycle: instance ${INSTANCE.id} is pending`,
    "",
  ]);
});

test.each([
  { argv: [...START, "--wait"], answers: [ACCEPTED, RUNS, FAILED] },
  { argv: START, answers: [FAILED] },
])("if the operation fails, the command prints the server's message: $argv", async ({ argv, answers }) => {
  const { server, left } = serverWith(answers);
  const ran = await tenantctl(argv, { env: SCOPED, server, isTTY: false });
  expect([ran.code, ran.out(), left]).toEqual([1, "", []]);
  expect(ran.err()).toContain(`start failed: no disk`);
});

test.each(
  [
    { name: "lost", lost: CUT },
    { name: "a 503", lost: { status: 503, body: { message: "goes down" } } },
    { name: "a proxy's 504", lost: { status: 504, text: "<html>" } },
  ] as const,
)("a request whose response is $name is repeated with the same key and without a message", async ({ lost }) => {
  const { server, preferences, keys, left } = serverWith([lost, ACCEPTED, RUNS, DONE]);
  const ran = await tenantctl(START, { env: SCOPED, server });
  expect([ran.code, ran.err(), left]).toEqual([0, "", []]);
  expect(preferences()).toEqual(["", "respond-async", "", ""]);
  expect(keys().size).toBe(1);
});

test("`operation show` and `operation wait` work after --no-wait", async () => {
  const at = `GET /v1/operations/${OPERATION.id}`;
  const progress = { completed_steps: 1, total_steps: 3, current_step: "act" };
  const view = { ...OPERATION, epoch: 2, params: {}, progress, steps: [] };
  const shown = await tenantctl(["operation", "show", OPERATION.id, "-o", "table"], {
    env: SCOPED,
    server: serving({ [at]: view }),
  });
  expect([shown.code, shown.err()]).toEqual([0, ""]);
  expect(shown.out()).toContain("progress:      1 of 3");
  const states = ["running", "succeeded"];
  const waited = await tenantctl(["operation", "wait", OPERATION.id, "-o", "table"], {
    env: SCOPED,
    server: () => ({ body: { ...view, state: states.shift() } }),
    isTTY: false,
  });
  expect([waited.code, waited.out()]).toEqual([0, `Operation ${OPERATION.id} succeeded\n`]);
  const failed = await tenantctl(["operation", "wait", OPERATION.id, "-o", "table"], {
    env: SCOPED,
    server: () => ({ body: { ...view, state: "unwound", error: "no disk" } }),
  });
  expect([failed.code, failed.out()]).toEqual([1, ""]);
  expect(failed.err()).toContain(`operation ${OPERATION.id} failed and was rolled back: no disk`);
});

test("a 409 to the first request is an error and does not mean that the operation runs", async () => {
  const refused: FakeAnswer = { status: 409, body: { message: "instance is in running, expected one of stopped" } };
  for (const argv of [START, [...START, "--wait"], [...START, "--no-wait"]]) {
    const { server, writes } = serverWith([refused]);
    const ran = await tenantctl(argv, { env: SCOPED, server });
    expect([ran.code, writes.length]).toEqual([5, 1]);
  }
});

test.each(
  [
    { argv: DELETE, answers: [CUT, GONE] },
    { argv: DELETE, answers: [CUT, ACCEPTED, RUNS, GONE] },
    { argv: [...DELETE, "--wait"], answers: [ACCEPTED, RUNS, GONE] },
    { argv: [...DELETE, "--wait"], answers: [ACCEPTED, { status: 204 }] },
  ] as const,
)("`delete` succeeds if an earlier request of the command deleted the object: $argv", async ({ argv, answers }) => {
  const { server, keys, left } = serverWith(answers, GONE);
  const ran = await tenantctl(argv, { env: SCOPED, server, isTTY: false });
  expect([ran.out(), ran.code, left]).toEqual([`Instance ${INSTANCE.id} deleted.\n`, 0, []]);
  expect(keys().size).toBe(1);
});

test.each([[DELETE], [[...DELETE, "--wait"]], [[...DELETE, "--no-wait"]]])(
  "`delete` of an instance that never existed exits 3: %j",
  async (argv) => {
    const { server, writes } = serverWith([GONE]);
    const ran = await tenantctl(argv, { env: SCOPED, server });
    expect([ran.code, ran.out(), writes.length]).toEqual([3, "", 1]);
  },
);
