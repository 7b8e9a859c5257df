// Tests `tenantctl instance console --reset` with a fake control plane whose node takes a long time to reset the
// instance.
import { expect, test } from "vitest";
import type { ClientSocket } from "../../../cli/internal/websocket.ts";
import { runTenantctl } from "../../../cli/tenantctl/program.ts";
import { controlText } from "../../../src/lib/console/frames.ts";
import { type Asked, type FakeAnswer, fakeEnvironment, type Server } from "../fake-environment.ts";
import { BY_ID, SCOPED } from "./instance-fixture.ts";
import { INSTANCE } from "./records.ts";

const RUNS: FakeAnswer = {
  status: 409,
  headers: { "retry-after": "2" },
  body: { message: "the request with this Idempotency-Key still runs as operation 12", error_code: "Conflict" },
};
const ACCEPTED: FakeAnswer = { status: 202, body: { id: "12", kind: "instance-lifecycle", state: "running" } };
const FAILED: FakeAnswer = { status: 502, body: { message: "reset failed: no", error_code: "OperationFailed" } };
const DONE: FakeAnswer = { body: INSTANCE };

type Given = {
  /** The answer after the end of the reset. */
  readonly end: FakeAnswer;
  /** Whether the connection of the first request breaks. */
  readonly cuts?: boolean;
  /** The number of requests that arrive while the reset still runs. */
  readonly runs: number;
  /** Whether the user closes the console after the last answer. */
  readonly closes?: boolean;
};

/** Runs the command. The first reset request loses its connection if `cuts` is true, or if it waits for the node. */
async function consoleOf({ end, cuts = false, runs, closes = false }: Given) {
  const resets: Asked[] = [];
  const used = Promise.withResolvers<void>();
  let is_open = false;
  let runs_left = runs;
  const socket: ClientSocket = {
    send: () => {},
    close: () => is_open = false,
    listen: ({ onText }) => {
      is_open = true;
      onText(controlText({ type: "ready", writer: true }));
    },
  };
  const opens: boolean[] = [];
  const server: Server = (asked) => {
    if (asked.path === `${BY_ID}/console-ticket`) return { status: 201, body: { ticket: "t".repeat(32) } };
    if (asked.path !== `${BY_ID}/reset`) return { body: INSTANCE };
    opens.push(is_open);
    const is_first = resets.push(asked) === 1;
    if (end.status === 409) return end;
    const waits = is_first && asked.headers["prefer"] === undefined;
    if (waits || (is_first && cuts)) throw new TypeError("fetch failed", { cause: new Error("connection reset") });
    if (asked.headers["prefer"] !== undefined) return ACCEPTED;
    if (closes && (runs_left === 0 || runs_left === Infinity)) setTimeout(used.resolve, 50);
    return runs_left-- > 0 ? RUNS : end;
  };
  const { environment, err } = fakeEnvironment({
    ...{ env: SCOPED, server, isTTY: true },
    dial: () => Promise.resolve(socket),
  });
  const keyboard = {
    ...await environment.keyboard(),
    readRaw: (onBytes: (bytes: Uint8Array) => Promise<void>) => {
      void used.promise.then(() => onBytes(new TextEncoder().encode("~.")));
      return () => {};
    },
  };
  const argv = ["instance", "console", INSTANCE.id, "--reset"];
  const code = await runTenantctl(argv, { ...environment, keyboard: () => Promise.resolve(keyboard) });
  return { code, err: err(), opens, keys: new Set(resets.map(({ headers }) => headers["idempotency-key"])) };
}

const TEXT = `\r\nConnected to ${INSTANCE.id}. Press Enter, then ~. to leave, ~? for help.\r\n` +
  "\r\nThe console is closed.\r\n";

test.each([false, true])("the console stays open during a long reset (first request lost: %s)", async (cuts) => {
  const { code, err, opens, keys } = await consoleOf({ end: DONE, cuts, runs: 5, closes: true });
  expect([code, err, keys.size]).toEqual([0, TEXT, 1]);
  expect(opens).not.toContain(false);
});

test("the user can close the console while the reset still runs", async () => {
  const { code, err } = await consoleOf({ end: DONE, runs: Infinity, closes: true });
  expect([code, err]).toEqual([0, TEXT]);
});

test.each([
  [
    "was refused",
    { status: 409, body: { message: "web-1 is stopped", error_code: "Conflict" } },
    5,
    "web-1 is stopped",
  ],
  ["failed on the node", FAILED, 1, "reset failed: no"],
])("the console closes with the reason if the reset %s", async (_how, end, status, reason) => {
  const { code, err } = await consoleOf({ end, runs: 1 });
  expect([code, err]).toEqual([status, expect.stringContaining(reason)]);
});
