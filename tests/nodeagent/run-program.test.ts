// Tests how programs of the node are stopped.
import { expect, test } from "vitest";
import { runProgram } from "../../nodeagent/qemu/run-program.ts";

test("a program whose signal is aborted is killed, and the call ends after the program", async () => {
  const stop = new AbortController();
  const began = performance.now();
  const running = runProgram(["sleep", "30"], { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("withdrawn")), 100);
  await expect(running).rejects.toThrow("withdrawn");
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("a program does not start if its signal was aborted before", async () => {
  const running = runProgram(["sh", "-c", "echo started"], { signal: AbortSignal.abort(new Error("withdrawn")) });
  await expect(running).rejects.toThrow("withdrawn");
});
