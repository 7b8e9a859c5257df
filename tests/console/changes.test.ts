// Tests properties of the console's change feed: it loses no change, and it recovers from a lost connection.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Changes, follow } from "../../console/core/change-feed.ts";
import { Refusal } from "../../console/core/client.ts";

type Answer = { readonly kinds: readonly string[]; readonly reset: boolean } | "failure";

/** Runs the feed with these answers, and records its reports, pauses and cursors. */
async function run(answers: readonly Answer[]) {
  const ended = new AbortController();
  const changed: (readonly string[] | "all")[] = [];
  const shown: string[] = [];
  const pauses: number[] = [];
  const cursors: (string | undefined)[] = [];
  let next = 0;
  await follow({
    read: ({ after }) => {
      cursors.push(after);
      const answer = answers[next++];
      if (answer === undefined) {
        ended.abort();
        return Promise.reject(new Error("the test ended"));
      }
      if (answer === "failure") return Promise.reject(new Refusal(0, "lost"));
      const { kinds, reset } = answer;
      return Promise.resolve<Changes>({ cursor: String(next), refs: kinds.map((kind) => ({ kind, id: "1" })), reset });
    },
    changed: (kinds) => void changed.push(kinds === "all" ? "all" : [...kinds]),
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
    show: (link) => void shown.push(link),
  }, ended.signal);
  return { changed, shown, pauses, cursors };
}

const answers = fc.array(
  fc.oneof(
    fc.record({ kinds: fc.array(fc.constantFrom("cn", "instance", "job"), { maxLength: 4 }), reset: fc.boolean() }),
    fc.constant<"failure">("failure"),
  ),
  { maxLength: 30 },
);

test("the feed reports the kinds of each answer, and reports `all` at its start, after a failure and for a reset", async () => {
  await fc.assert(fc.asyncProperty(answers, async (given) => {
    const { changed } = await run(given);
    const expected = given.flatMap((answer, index): (readonly string[] | "all")[] => {
      if (answer === "failure") return [];
      const isFirst = !given.slice(0, index).some((earlier) => earlier !== "failure");
      if (isFirst || answer.reset || given[index - 1] === "failure") return ["all"];
      return answer.kinds.length === 0 ? [] : [[...new Set(answer.kinds)]];
    });
    expect(changed).toEqual(expected);
  }));
});

test("each poll continues at the cursor of the last answer", async () => {
  await fc.assert(fc.asyncProperty(answers, async (given) => {
    const { cursors } = await run(given);
    let cursor: string | undefined;
    const expected = [
      undefined,
      ...given.map((answer, index) => {
        if (answer !== "failure") cursor = String(index + 1);
        return cursor;
      }),
    ];
    expect(cursors).toEqual(expected);
  }));
});

test("the pause grows with each failure up to 10 s, and is as short as at first after an answer", async () => {
  const failures = Array.from({ length: 8 }, () => "failure" as const);
  const { pauses, shown } = await run([...failures, { kinds: [], reset: false }, "failure"]);
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 200, 500]);
  expect(shown).toEqual([...failures.map(() => "lost"), "live", "lost"]);
});

test("the pause grows with each reset in a row up to 10 s, and is as short as at first after an answer without a reset", async () => {
  const reset = { kinds: [], reset: true };
  const { pauses } = await run([...Array.from({ length: 7 }, () => reset), { kinds: [], reset: false }, reset]);
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 200, 500]);
});

test.each([[404, "polling"], [403, "polling"], [401, "paused"]])(
  "after an answer with the status %i the feed ends and shows the state %s",
  async (status, link) => {
    const shown: string[] = [];
    await follow({
      read: () => Promise.reject(new Refusal(status, "")),
      changed: () => {},
      pause: () => Promise.resolve(),
      show: (state) => void shown.push(state),
    }, new AbortController().signal);
    expect(shown).toEqual([link]);
  },
);
