// Tests the changes that a server process keeps in memory for the feed of changes.
import { expect, test } from "vitest";
import type { ActorRef } from "../../actors/engine/types.ts";
import { createChanges } from "../../src/db/changes.ts";
import type { Hint } from "../../src/db/hints.ts";

const KEPT_MAX = 4_096;
const never = new AbortController().signal;

function open(held_max = 10) {
  let hint: (hint: Hint, own: boolean) => void = () => {};
  const changes = createChanges({
    onHint: (listener) => {
      hint = listener;
      return () => {};
    },
  }, { held_max });
  const changed = (...ids: string[]) => hint(ids.map((id) => ({ kind: "vpc", id })), true);
  const all = (refs: readonly ActorRef[]) => Promise.resolve(refs);
  async function read(after?: string, hold_ms = 0) {
    const found = await changes.wait(after, { hold_ms, signal: never, visible: all });
    if (found === "full") throw new Error("full");
    return found;
  }
  return { changes, changed, read };
}

test("a process keeps the newest changes, and a caller whose cursor is older than these changes gets `reset`", async () => {
  const { changed, read } = open();
  const { cursor } = await read();
  for (let n = 0; n < KEPT_MAX; n++) changed(String(n));
  const kept = await read(cursor);
  expect([kept.refs.length, kept.reset]).toEqual([KEPT_MAX, false]);
  changed("one more");
  expect(await read(cursor)).toEqual({ cursor: expect.any(String), refs: [], reset: true });
});

test("an answer names an object once, even if the object changed several times", async () => {
  const { changed, read } = open();
  const { cursor } = await read();
  changed("a", "b");
  changed("a");
  expect((await read(cursor)).refs.map(({ id }) => id).sort()).toEqual(["a", "b"]);
});

test("a request above the limit of waiting requests is refused", async () => {
  const { changes, changed, read } = open(1);
  const { cursor } = await read();
  const waiting = read(cursor, 10_000);
  await expect.poll(() => changes.held()).toBe(1);
  await expect(read(cursor, 10_000)).rejects.toThrow("full");
  changed("a");
  expect((await waiting).refs).toEqual([{ kind: "vpc", id: "a" }]);
  expect(changes.held()).toBe(0);
});
