// Tests the function that watches the target of a live migration. See docs/reliability.md, "Migration of instances",
// rule 6.
import { expect, test } from "vitest";
import { whileAnswers } from "../../nodeagent/migration/while-answers.ts";

const PATIENCE = { ask_ms: 5, answer_limit_ms: 5, silence_limit_ms: 50 };
const signal = new AbortController().signal;
const never = () => new Promise<never>(() => {});

test("work ends with its own result or error while the target answers", async () => {
  const link = { answers: () => Promise.resolve(true) };
  const after = <T>(act: () => T) => () => new Promise((done) => setTimeout(done, 200)).then(act);
  const onLost = () => Promise.reject(new Error("called"));
  expect(await whileAnswers(link, { signal, onLost, run: after(() => "sent") }, PATIENCE)).toBe("sent");
  const failing = after(() => {
    throw new Error("no room");
  });
  await expect(whileAnswers(link, { signal, onLost, run: failing }, PATIENCE)).rejects.toThrow("no room");
});

test("if the target is silent, the work is aborted, onLost is called, and the call fails", async () => {
  let asked = 0;
  const link = { answers: () => Promise.resolve(++asked < 3) };
  const seen: unknown[] = [];
  const run = (given: AbortSignal) => {
    given.addEventListener("abort", () => seen.push("aborted"));
    return never();
  };
  const onLost = () => Promise.resolve(void seen.push("closed"));
  await expect(whileAnswers(link, { signal, onLost, run }, PATIENCE)).rejects.toThrow(
    "the target has not answered for 0.05 s",
  );
  expect(seen).toEqual(["aborted", "closed"]);
  expect(asked).toBeGreaterThan(3);
});

test("if the work fails because it was aborted, the call throws the reason for the abort, not the error of the work", async () => {
  const link = { answers: () => Promise.resolve(false) };
  const run = (given: AbortSignal) =>
    new Promise<never>((_, reject) => given.addEventListener("abort", () => reject(new Error("aborted"))));
  const onLost = () => Promise.resolve();
  await expect(whileAnswers(link, { signal, onLost, run }, PATIENCE)).rejects.toThrow("the target has not answered");
});
