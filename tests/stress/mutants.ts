// Mistakes made on purpose in what only a real PostgreSQL shows, and who must find each: pairs of operations, or what
// several ask at once. Each hunt is first made without the mistake, and must find nothing then.
// deno run -A tests/stress/planted.ts
import { randomUUID } from "node:crypto";
import process from "node:process";
import { plant, STORED_BUGS, type StoredBug } from "../../actors/engine/planted.ts";
import { createLongPolls } from "../../src/db/long-polls.ts";
import { claimKey, findSavedScope, type KeyClaim } from "../../src/db/idempotency.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { ownCluster } from "../support/cluster.ts";
import { bugLine } from "../simulator/planted.ts";
import { newReport } from "./pair.ts";
import { openSite } from "./parent-fixture.ts";
import { tryOperations } from "./parent-pairs.ts";
import { openTwoEngines, type TwoEngines } from "./two-engines.ts";

const AT_ONCE = 16;
/** Whoever is forgotten waits so long. */
const HOLD_MS = 5_000;

/** What is wrong; nothing when all is well. */
type Hunt = (two: TwoEngines) => Promise<readonly string[]>;

const CAUGHT_BY: Readonly<Record<StoredBug, Hunt>> = {
  guard_not_sent: pairOf("instance_create", "node_reset"),
  room_not_counted: pairOf("instance_create", "instance_create"),
  quota_not_counted: pairOf("instance_create", "node_disable"),
  address_kept: pairOf("nat_gateway_delete", "nat_gateway_create"),
  idempotency_key_forgotten: keysAtOnce,
  idempotency_body_ignored: otherBody,
  repeated_request_forgotten: answeredBefore,
  poll_answers_one: pollsOfOneKey,
};

const cluster = await ownCluster({ fsync: "off", max_connections: "60" });
let wrong = 0;
try {
  for (const [index, bug] of STORED_BUGS.entries()) {
    const before = await hunt(null, CAUGHT_BY[bug], `without_${index}`);
    const found = await hunt(bug, CAUGHT_BY[bug], `with_${index}`);
    console.log(bugLine(bug, CAUGHT_BY[bug].name, found[0]?.slice(0, 120) ?? null));
    for (const text of before) console.log(`  found without the mistake: ${text}`);
    if (found.length === 0 || before.length > 0) wrong += 1;
  }
} finally {
  await cluster.remove();
}
console.log(`planted bugs on PostgreSQL ${STORED_BUGS.length}, not caught ${wrong}`);
process.exit(wrong === 0 ? 0 : 1);

async function hunt(bug: StoredBug | null, find: Hunt, name: string): Promise<readonly string[]> {
  const two = await openTwoEngines(cluster.url, name);
  plant(bug);
  try {
    return await find(two);
  } catch (error) {
    return [String(error)];
  } finally {
    plant(null);
    await two.close();
  }
}

function pairOf(first: string, second: string): Hunt {
  const pair: Hunt = async (two) => {
    const report = newReport();
    await tryOperations(two, report, { site: await openSite(two), names: [first, second] });
    return [...await brokenInvariants(two.db), ...report.violations];
  };
  Object.defineProperty(pair, "name", { value: `${first} and ${second}` });
  return pair;
}

function claim(key: string, body = "a"): KeyClaim {
  const of = { principal: "somebody", method: "POST", path: "/v1/vpcs" };
  return { ...of, key, body_sha256: body.repeat(64), new_msg_id: randomUUID() };
}

/** Whoever uses one key at once means one message. */
async function keysAtOnce(two: TwoEngines): Promise<readonly string[]> {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => claimKey(two.db, claim(key))));
  const ids = new Set(answers.map((answer) => answer.ok ? answer.msg_id : "refused"));
  return ids.size === 1 ? [] : [`one key stands for ${ids.size} messages`];
}

async function otherBody(two: TwoEngines): Promise<readonly string[]> {
  const key = randomUUID();
  await claimKey(two.db, claim(key));
  const second = await claimKey(two.db, claim(key, "b"));
  return second.ok ? ["one key was taken for two bodies"] : [];
}

/** A request that was answered is known when it comes again, also when its object is gone. */
async function answeredBefore(two: TwoEngines): Promise<readonly string[]> {
  const first = { ...claim(randomUUID()), place: { tenant_id: randomUUID() } };
  await claimKey(two.db, first);
  await two.db.query("insert into seen (msg_id, reply) values ($1, '{}')", [first.new_msg_id]);
  return await findSavedScope(two.db, first) === null ? ["a repeated request is not known"] : [];
}

/** All who wait for one thing hear of it. */
async function pollsOfOneKey(): Promise<readonly string[]> {
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
  const unheard = (await Promise.all(waiting)).filter((answer) => answer === null).length;
  polls.close();
  return unheard === 0 ? [] : [`${unheard} of ${AT_ONCE} heard nothing`];
}
