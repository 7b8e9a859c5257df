// The doctor's list of a node's documented transitions has a step for each message that the transition table accepts.
import { expect, test } from "vitest";
import { cnTable } from "../../actors/cn/transition.ts";
import { PUBLISHED_STEPS } from "../../src/doctor/published.ts";

/** Messages of earlier releases, whose transitions are still in logs. */
const EARLIER: readonly string[] = ["register"];

test("exactly the messages that a state of a node accepts have a documented step", () => {
  const accepted = Object.entries(cnTable).flatMap(([event, row]) =>
    Object.entries(row).flatMap(([state, cell]) => typeof cell === "function" ? [`${event} from ${state}`] : [])
  );
  const documented = PUBLISHED_STEPS.flatMap(([event, from]) =>
    EARLIER.includes(event) ? [] : [`${event} from ${from}`]
  );
  expect([...new Set(documented)].sort()).toEqual(accepted.sort());
});
