// Makes every kind of call of the setup script fail once, each on its own machine, and runs the script again.
import { expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { failedOnce, kindsOfCalls, NEEDED, openScratchMachine } from "./scratch-machine.ts";

test("after a failure of each kind of call, the failure is reported, the next run succeeds, and the pool was created once", async (context) => {
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
