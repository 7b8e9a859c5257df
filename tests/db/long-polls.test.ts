// Tests long polls. A sweep is one query for all waiting requests. A nudge asks for a sweep before the next regular
// sweep.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLongPolls } from "../../src/db/long-polls.ts";

type Answer = { readonly state: string };

let answers: Map<string, Answer>;
let sweeps: string[][];
const failures: unknown[] = [];
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
  answers = new Map();
  sweeps = [];
  failures.length = 0;
});
afterEach(() => vi.useRealTimers());

function longPolls(held_max = 100, sweep_ms = 0) {
  return createLongPolls<string, Answer>({
    held_max,
    report: (_message, error) => void failures.push(error),
    sweep: async (keys) => {
      sweeps.push(keys);
      const found = new Map([...answers].filter(([key]) => keys.includes(key)));
      if (sweep_ms > 0) await new Promise((wake) => setTimeout(wake, sweep_ms));
      if (answers.has("broken")) throw new Error("no database");
      return found;
    },
  });
}

test("every 250 ms, one sweep queries each waiting key once", async () => {
  const polls = longPolls();
  const waits = ["a", "b", "a"].map((key) => polls.wait(key, 10_000, never));
  await vi.advanceTimersByTimeAsync(500);
  expect(sweeps).toEqual([["a", "b"], ["a", "b"]]);
  answers.set("a", { state: "approved" }).set("b", { state: "disabled" });
  await vi.advanceTimersByTimeAsync(250);
  expect(await Promise.all(waits)).toEqual([{ state: "approved" }, { state: "disabled" }, { state: "approved" }]);
  expect(polls.held()).toBe(0);
});

test("while no request waits, there is no sweep and no timer", async () => {
  const polls = longPolls();
  polls.nudge();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sweeps).toEqual([]);
  const wait = polls.wait("a", 300, never);
  await vi.advanceTimersByTimeAsync(300);
  expect(await wait).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
  expect(sweeps).toHaveLength(1);
});

test("a request starts a sweep if it begins to wait just after a nudge", async () => {
  const polls = longPolls();
  answers.set("a", { state: "approved" });
  polls.nudge();
  await vi.advanceTimersByTimeAsync(50);
  const wait = polls.wait("a", 10_000, never);
  await vi.advanceTimersByTimeAsync(10);
  expect(await wait).toEqual({ state: "approved" });
});

test("a wait without an answer returns null exactly at its time limit", async () => {
  const polls = longPolls();
  let ended: Answer | null | "full" | undefined;
  void polls.wait("a", 1_000, never).then((answer) => ended = answer);
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toBeNull();
});

test("a nudge starts a sweep at once, but 50 nudges before a sweep and 50 during the sweep cause only two sweeps", async () => {
  const polls = longPolls(100, 5);
  const wait = polls.wait("a", 10_000, never);
  for (let n = 0; n < 50; n++) polls.nudge();
  await vi.advanceTimersByTimeAsync(1);
  expect(sweeps).toHaveLength(1);
  answers.set("a", { state: "approved" });
  for (let n = 0; n < 50; n++) polls.nudge();
  await vi.advanceTimersByTimeAsync(30);
  expect(await wait).toEqual({ state: "approved" });
  expect(sweeps).toHaveLength(2);
});

test("a stream of nudges causes at most one sweep per 10 ms", async () => {
  const polls = longPolls();
  void polls.wait("a", 10_000, never);
  for (let ms = 0; ms < 200; ms++) {
    polls.nudge();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(sweeps.length).toBeGreaterThan(10);
  expect(sweeps.length).toBeLessThanOrEqual(21);
  polls.close();
});

test("an aborted request frees its slot, and the other requests continue to wait", async () => {
  const polls = longPolls(2);
  const leaving = new AbortController();
  const left = polls.wait("a", 10_000, leaving.signal);
  const stays = polls.wait("a", 10_000, never);
  expect(await polls.wait("b", 10_000, never)).toBe("full");
  leaving.abort();
  expect(await left).toBeNull();
  expect(polls.held()).toBe(1);
  answers.set("a", { state: "approved" });
  polls.nudge();
  await vi.advanceTimersByTimeAsync(1);
  expect(await stays).toEqual({ state: "approved" });
  expect(polls.held()).toBe(0);
  expect(await polls.wait("a", 10_000, leaving.signal)).toBeNull();
});

test("a failed sweep is reported, and the next sweep answers the waiting requests", async () => {
  const polls = longPolls();
  answers.set("broken", { state: "" });
  const wait = polls.wait("a", 10_000, never);
  await vi.advanceTimersByTimeAsync(250);
  expect(failures).toHaveLength(1);
  answers.delete("broken");
  answers.set("a", { state: "approved" });
  await vi.advanceTimersByTimeAsync(250);
  expect(await wait).toEqual({ state: "approved" });
});

test("closing ends every wait with null", async () => {
  const polls = longPolls();
  const waits = ["a", "b"].map((key) => polls.wait(key, 10_000, never));
  polls.close();
  expect(await Promise.all(waits)).toEqual([null, null]);
  expect(await polls.wait("c", 10_000, never)).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

test("polls.answer() answers only the requests that wait for the key, without a sweep", async () => {
  const polls = longPolls();
  const [one, two] = [polls.wait("a", 1_000, never), polls.wait("b", 1_000, never)];
  polls.answer("a", { state: "approved" });
  expect(await one).toEqual({ state: "approved" });
  expect([polls.held(), sweeps]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await two).toBeNull();
});

test("an answer for which no request waits is kept for 500 ms, and only the next request gets it", async () => {
  const polls = longPolls();
  polls.answer("a", { state: "approved" });
  polls.answer("b", { state: "approved" });
  await vi.advanceTimersByTimeAsync(499);
  expect(await polls.wait("a", 100, never)).toEqual({ state: "approved" });
  const again = polls.wait("a", 100, never);
  await vi.advanceTimersByTimeAsync(1);
  const late = polls.wait("b", 100, never);
  await vi.advanceTimersByTimeAsync(100);
  expect([await again, await late]).toEqual([null, null]);
});
