// Every kind of call that the setup script makes is failed once on a machine of its own, and the script run again.
import { expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { failedOnce, kindsOfCalls, NEEDED, openScratchMachine } from "./scratch-machine.ts";

test("every kind of call fails once: the next run ends well, the pool is made once, and no failure goes unreported", async (context) => {
  needs(context, ...NEEDED);
  const fixture = await openScratchMachine();
  try {
    const { code, calls } = await (await fixture.machine()).start();
    expect(code).toBe(113);
    const kinds = kindsOfCalls(calls);
    const violations = [];
    for (const each of kinds) violations.push(await failedOnce(fixture, each));
    expect(violations.filter((each) => each !== null)).toEqual([]);
    console.log(`${kinds.length} kinds of calls failed once each`);
  } finally {
    await fixture.close();
  }
});
