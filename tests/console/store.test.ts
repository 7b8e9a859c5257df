// Tests properties of the console's store: which entries it reads and when, and the data that it shows during a read. A
// reader opens an entry to get its data, and holds the entry while the data are on screen.
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Kind } from "../../console/core/kinds.ts";
import { createStore, FRESH_MS, type Held, type Query } from "../../console/core/store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns a fake server, which counts the reads. Tests change the server's value. */
function fakeSource(key: string, kind: Kind, delay_ms: number) {
  const source = { value: 0, running: 0, overlapped: false, aborted: 0, reads: 0, fails: false };
  const query: Query<number> = {
    key,
    kinds: [kind],
    read: (signal) => {
      source.reads++;
      source.running++;
      if (source.running > 1) source.overlapped = true;
      return new Promise((resolve, reject) => {
        const value = source.value;
        const end = setTimeout(() => {
          source.running--;
          // Stops listening, because a later read of the same entry can have the same signal.
          signal.removeEventListener("abort", stop);
          if (source.fails) reject(new Error("failed"));
          else resolve(value);
        }, delay_ms);
        const stop = () => {
          clearTimeout(end);
          source.running--;
          source.aborted++;
          reject(new Error("aborted"));
        };
        signal.addEventListener("abort", stop);
      });
    },
  };
  return { source, query };
}

const steps = fc.array(
  fc.oneof(
    fc.constant("open"),
    fc.constant("hold"),
    fc.constant("release"),
    fc.constant("change"),
    fc.constant("other"),
    fc.constant("fail"),
    fc.nat(30),
  ),
  { maxLength: 40 },
);

test("after any sequence of changes, failures and readers, a held entry shows the server's value; reads never overlap", async () => {
  await fc.assert(fc.asyncProperty(steps, fc.integer({ min: 1, max: 20 }), async (actions, delay_ms) => {
    const store = createStore(Date.now);
    const { source, query } = fakeSource("a", "cn", delay_ms);
    const opened: Held<number>[] = [];
    const held: { readonly state: Held<number>["state"]; readonly release: () => void }[] = [];
    const hold = ({ state, hold }: Held<number>) => held.push({ state, release: hold() });
    for (const action of actions) {
      if (action === "open") opened.push(store.open(query));
      else if (action === "hold") hold(opened.shift() ?? store.open(query));
      else if (action === "release") held.pop()?.release();
      else if (action === "other") store.changed(new Set(["instance"]));
      else if (action === "fail") source.fails = !source.fails;
      else if (action === "change") {
        source.value++;
        store.changed(new Set(["cn"]));
      } else if (typeof action === "number") await vi.advanceTimersByTimeAsync(action);
    }
    source.fails = false;
    hold(store.open(query));
    store.changed("all");
    await vi.advanceTimersByTimeAsync(delay_ms * 3 + 5);
    expect(source.overlapped).toBe(false);
    expect(held.map(({ state }) => state.value.data)).toEqual(held.map(() => source.value));
    for (const { release } of held) release();
    await vi.advanceTimersByTimeAsync(delay_ms * 3);
    expect(source.running).toBe(0);
  }));
});

test("if a later read fails, an entry keeps the data of the last successful read", async () => {
  const store = createStore(Date.now);
  const { source, query } = fakeSource("a", "cn", 1);
  const { state, hold } = store.open(query);
  hold();
  await vi.advanceTimersByTimeAsync(5);
  source.fails = true;
  store.changed("all");
  await vi.advanceTimersByTimeAsync(5);
  expect(state.value).toMatchObject({ data: 0, refusal: { message: "failed" } });
});

test("an entry that loses its last reader aborts its read, unless it gets another reader at once", async () => {
  const store = createStore(Date.now);
  const { source, query } = fakeSource("a", "cn", 10);
  const first = store.open(query).hold();
  await vi.advanceTimersByTimeAsync(1);
  first();
  const second = store.open(query).hold();
  await vi.advanceTimersByTimeAsync(1);
  expect(source.aborted).toBe(0);
  second();
  await vi.advanceTimersByTimeAsync(1);
  expect([source.aborted, store.size()]).toEqual([1, 0]);
});

test("an entry that leaves the screen before its rest_ms have passed is never read", async () => {
  const store = createStore(Date.now);
  const { source, query } = fakeSource("a", "cn", 1);
  const release = store.open({ ...query, rest_ms: 80 }).hold();
  await vi.advanceTimersByTimeAsync(79);
  release();
  await vi.advanceTimersByTimeAsync(100);
  expect(source.reads).toBe(0);
});

test("refresh reads a held entry again exactly when its data reach their maximum age", async () => {
  let time_ms = 0;
  const store = createStore(() => time_ms);
  const { source, query } = fakeSource("a", "cn", 0);
  store.open(query).hold();
  await vi.advanceTimersByTimeAsync(5);
  time_ms = FRESH_MS - 1;
  store.refresh();
  expect(source.reads).toBe(1);
  time_ms = FRESH_MS;
  store.refresh();
  expect(source.reads).toBe(2);
});

test("if a change removes an entry that is opened but not held yet, its reader and the next reader see later changes", async () => {
  const store = createStore(Date.now);
  const { source, query } = fakeSource("a", "cn", 1);
  const early = store.open(query);
  store.changed(new Set(["cn"]));
  const late = store.open(query);
  const releases = [early.hold(), late.hold()];
  await vi.advanceTimersByTimeAsync(5);
  source.value = 1;
  store.changed(new Set(["cn"]));
  await vi.advanceTimersByTimeAsync(5);
  expect([early.state.value.data, late.state.value.data]).toEqual([1, 1]);
  for (const release of releases) release();
  await vi.advanceTimersByTimeAsync(5);
  expect(source.running).toBe(0);
});
