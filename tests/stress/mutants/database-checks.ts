// Checks that catch mutants on a real PostgreSQL: pairs of operations, and several equal requests at once.
import { randomUUID } from "node:crypto";
import { createLongPolls } from "../../../src/db/long-polls.ts";
import { claimKey, findSavedScope, type KeyClaim } from "../../../src/db/idempotency.ts";
import { brokenInvariants } from "../../doctor/broken.ts";
import { newReport } from "../pair.ts";
import { openSite } from "../parent-fixture.ts";
import { tryOperations } from "../parent-pairs.ts";
import type { TwoEngines } from "../two-engines.ts";

const AT_ONCE = 16;
/** The time limit of a long poll that gets no answer. */
const HOLD_MS = 5_000;

/** A check that returns the violations that it finds. */
type Check = (two: TwoEngines) => Promise<readonly string[]>;

export const DATABASE_CHECKS = {
  "instance_create and node_reset": pairOf("instance_create", "node_reset"),
  "instance_create and instance_create": pairOf("instance_create", "instance_create"),
  "instance_create and node_disable": pairOf("instance_create", "node_disable"),
  "nat_gateway_delete and nat_gateway_create": pairOf("nat_gateway_delete", "nat_gateway_create"),
  "equal keys at once": equalKeys,
  "one key with two bodies": twoBodies,
  "repeated request": repeatedRequest,
  "long polls of one key": longPolls,
} satisfies Readonly<Record<string, Check>>;

export type DatabaseCheck = keyof typeof DATABASE_CHECKS;

export function isDatabaseCheck(name: string): name is DatabaseCheck {
  return name in DATABASE_CHECKS;
}

function pairOf(first: string, second: string): Check {
  return async (two) => {
    const report = newReport();
    await tryOperations(two, report, { site: await openSite(two), names: [first, second] });
    return [...await brokenInvariants(two.db), ...report.violations];
  };
}

function claim(key: string, body = "a"): KeyClaim {
  const request = { principal: "somebody", method: "POST", path: "/v1/vpcs" };
  return { ...request, key, body_sha256: body.repeat(64), new_msg_id: randomUUID() };
}

/** Checks that concurrent requests with the same Idempotency-Key get the same message id. */
async function equalKeys(two: TwoEngines): Promise<readonly string[]> {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => claimKey(two.db, claim(key))));
  const ids = new Set(answers.map((answer) => answer.ok ? answer.msg_id : "refused"));
  return ids.size === 1 ? [] : [`one key has ${ids.size} messages`];
}

/** Checks that the server refuses an Idempotency-Key that was already used with another body. */
async function twoBodies(two: TwoEngines): Promise<readonly string[]> {
  const key = randomUUID();
  await claimKey(two.db, claim(key));
  const second = await claimKey(two.db, claim(key, "b"));
  return second.ok ? ["one key was accepted for two bodies"] : [];
}

/** Checks that a repeated request keeps its saved resource scope, even when its object no longer exists. */
async function repeatedRequest(two: TwoEngines): Promise<readonly string[]> {
  const first = { ...claim(randomUUID()), place: { tenant_id: randomUUID() } };
  await claimKey(two.db, first);
  await two.db.query("insert into seen (msg_id, reply) values ($1, '{}')", [first.new_msg_id]);
  return await findSavedScope(two.db, first) === null ? ["a repeated request is not known"] : [];
}

/** Checks that several long polls with the same key are all answered. */
async function longPolls(): Promise<readonly string[]> {
  let there = false;
  const polls = createLongPolls<string, { readonly there: true }>({
    sweep: (keys) => Promise.resolve(new Map(there ? keys.map((key) => [key, { there: true }]) : [])),
    every_ms: HOLD_MS * 10,
    held_max: AT_ONCE,
    report: () => {},
  });
  const { signal } = new AbortController();
  const waiting = Array.from({ length: AT_ONCE }, () => polls.wait("one", HOLD_MS, signal));
  there = true;
  polls.nudge();
  const unanswered = (await Promise.all(waiting)).filter((answer) => answer === null).length;
  polls.close();
  return unanswered === 0 ? [] : [`${unanswered} of ${AT_ONCE} polls got no answer`];
}
