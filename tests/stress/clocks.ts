// Tests servers and node agents whose wall clocks are wrong and jump by an hour or days, forward and back. Every time
// limit ends by the database's clock. Transitions have the database's time. Agents work like agents with a correct
// clock. Jumps of the servers' clocks under load lose no acknowledged operation (docs/reliability.md, R-10). deno run
// -A tests/stress/clocks.ts [--seconds N], where N is the length of the load.
import process from "node:process";
import { parseArgs } from "node:util";
import { type Db, openPool } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { startLoad } from "../processes/load.ts";
import { agentsByWrongClocks } from "./clocks-agents.ts";
import { LIMITS } from "./clocks-limits.ts";
import { type ClocksSite, openClocksSite } from "./clocks-site.ts";
import { sleep, until, untilEmpty } from "./waiting.ts";

const HOUR_S = 3_600;
const DAY_S = 86_400;
/**
 * The offsets to which the clocks jump, in seconds. The first offset goes back further than the time for which replies
 * are stored.
 */
const JUMPS_S = [-3 * DAY_S, -DAY_S, -HOUR_S, 0, HOUR_S, DAY_S] as const;
/** A limit is checked this many seconds before its end. Even a slow machine needs less time for a check. */
const BEFORE_S = 300;
/** Long enough for the background work to end the objects that it considers expired. */
const PASSES_MS = 2_500;
/** The maximum time that the background work may take to end expired objects. */
const WAIT = { limit_ms: 60_000, look_ms: 100 };
const JUMP_EVERY_MS_MAX = 400;
const CHECK_LIMIT_MS = 60_000;

const { values } = parseArgs({ options: { seconds: { type: "string", default: "30" } } });
process.exit(await runClocks(Number(values.seconds)) ? 0 : 1);

async function runClocks(load_s: number): Promise<boolean> {
  const cluster = await ownCluster({ fsync: "off" });
  const db = openPool({ url: cluster.url, applicationName: "checks", statementLimit_ms: CHECK_LIMIT_MS });
  const { rows: [start] } = await db.query<{ now: Date }>("select now()");
  const site = await openClocksSite(cluster.url);
  let good = true;
  try {
    for (const [name, { after_s }] of Object.entries(LIMITS)) {
      const wrong = await endsInTime(site, name);
      console.log(`${name}, ${after_s} s: ${wrong.length === 0 ? "ends by the database's clock" : wrong.join(", ")}`);
      good &&= wrong.length === 0;
    }
    if (!await agentsByWrongClocks(site, db)) good = false;
    const { jumps, operations, violations } = await jumpUnderLoad(site, { db, load_s });
    violations.push(...await writtenAtOtherTimes(db, start!.now));
    console.log(`jumps under load: ${jumps} jumps, ${operations} operations, ${violations.length} violations`);
    for (const text of violations) console.log(`  ${text}`);
    if (jumps === 0 || operations === 0) console.log("never happened: jumps or operations");
    return good && violations.length === 0 && jumps > 0 && operations > 0;
  } finally {
    await site.close();
    await db.close();
    await cluster.remove();
  }
}

/** Checks that a time limit ends by the database's clock. Returns what went wrong. */
async function endsInTime(site: ClocksSite, name: string): Promise<string[]> {
  const { begin, after_s, once = false } = LIMITS[name]!;
  await site.set([0, 0]);
  const one = await begin(site);
  const other = once ? await begin(site) : one;
  await site.set([DAY_S, HOUR_S]);
  await site.advance(after_s - BEFORE_S);
  await sleep(PASSES_MS);
  const wrong = await one.lives() ? [] : ["it ended early while the servers' clocks were ahead"];
  await site.set([-DAY_S, -HOUR_S]);
  await site.advance(BEFORE_S);
  const isOver = async () => !await other.lives();
  return await until(isOver, WAIT) ? wrong : [...wrong, "it did not end while the servers' clocks were behind"];
}

type Jumping = { readonly db: Db; readonly load_s: number };

async function jumpUnderLoad(site: ClocksSite, { db, load_s }: Jumping) {
  const load = startLoad({ urls: site.urls });
  let jumps = 0;
  for (const end = performance.now() + load_s * 1_000; performance.now() < end; jumps += 1) {
    await site.jump(Math.random() < 0.5 ? 0 : 1, JUMPS_S[Math.floor(Math.random() * JUMPS_S.length)] ?? 0);
    await sleep(Math.random() * JUMP_EVERY_MS_MAX);
  }
  await load.stop();
  await site.ask({ method: "GET", path: "/v1/audit/verify" });
  const violations = [
    ...await historyViolations(db, load.operations),
    ...await invariantViolations(db),
    ...await untilEmpty(() => auditViolations(db), WAIT),
  ];
  return { jumps, operations: load.operations.length, violations };
}

/**
 * Lists transitions whose time is before `start` or in the future by the database's clock, and transitions whose
 * message has an id of an earlier day. The reply to such a message would be deleted too early.
 */
async function writtenAtOtherTimes(db: Db, start: Date): Promise<string[]> {
  const { rows } = await db.query<{ event: string; at: Date }>(
    `select event, at from transition where at < $1 or at > berth_now()
        or msg_id < seen_bound(($1::timestamptz at time zone 'UTC')::date) limit 20`,
    [start],
  );
  return rows.map(({ event, at }) => `${event} at ${at.toISOString()} has an impossible time`);
}
