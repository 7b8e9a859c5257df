// Tests inParallel, which runs a function for several items at the same time.
import { expect, test } from "vitest";
import { inParallel } from "../../cli/internal/in-parallel.ts";

test("inParallel returns results in the order of the items, and runs at most the given number at a time", async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel(2, [30, 1, 2, 3], async (ms) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, ms));
    running--;
    return ms * 10;
  });
  expect(results).toEqual([300, 10, 20, 30]);
  expect(most).toBe(2);
});

test("after a failure, inParallel starts no further item, and throws the failure when the running items have ended", async () => {
  const started: string[] = [];
  const ended: string[] = [];
  const work = async (item: string) => {
    started.push(item);
    if (item === "bad") throw new Error("no");
    await new Promise((resolve) => setTimeout(resolve, 20));
    ended.push(item);
  };
  await expect(inParallel(2, ["slow", "bad", "never"], work)).rejects.toThrow("no");
  expect(started).toEqual(["slow", "bad"]);
  expect(ended).toEqual(["slow"]);
});
