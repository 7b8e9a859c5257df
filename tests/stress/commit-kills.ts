// Servers killed at the boundaries of commits: three on one database, under load, each commit of a command reached by a
// kill -9 at each of its places. The clients turn to another server with the same key, and what they hear there is the one
// answer. reliability.md, T6 and R-01.
// deno run -A tests/stress/commit-kills.ts [--kills N]
import process from "node:process";
import { parseArgs } from "node:util";
import { callOf, type Operation, request } from "../processes/client.ts";
import { type KillSite, openKillSite } from "./commit-kills-site.ts";
import { type Place, PLACES, type Strike, type Wanted } from "./commit-kills-watch.ts";
import { isGood, newReport, printReport, type Report, struck } from "./report.ts";
import { type Round, runRounds } from "./rounds.ts";
import { sleep, until } from "./waiting.ts";

const KILLS = "60";
const ROUND_KILLS = 60;
/** Of those that the load asks for. */
const COMMANDS = [
  "enrolment-claim register",
  "cn approve",
  "cn set_role",
  "cn disable",
  "silo create",
  "tenant create",
  "tenant update",
  "project create",
  "project delete",
  "vpc create",
  "vpc delete",
] as const;
/** A command that nobody sends meanwhile is left for later. */
const COMMIT_LIMIT_MS = 10_000;
/** Another server must be there for the clients of the one that is killed. */
const RUNNING_MIN = 2;
const START_LIMIT_MS = 60_000;
const LOOK_MS = 10;
const PAUSE_MS_MAX = 100;

/** By command, how often a server was killed at each place of its commit. */
type Hits = Map<string, Record<Place, number>>;

const { values } = parseArgs({ options: { kills: { type: "string", default: KILLS } } });
const kills = Number(values.kills);
const hits: Hits = new Map(COMMANDS.map((command) => [command, noHits()]));
const report = newReport(["server_killed", ...PLACES.map((place) => `killed_${place}`), "asked_again"]);
await runCommitKills(report);
report.silent.push(...missed(hits));
printReport(report);
printHits(hits);
process.exit(isGood(report) ? 0 : 1);

function runCommitKills(report: Report): Promise<Report> {
  const done = () => report.faults["server_killed"] ?? 0;
  const tries = { left: kills * 2 };
  return runRounds(report, {
    open: openKillSite,
    tenancy: true,
    goesOn: () => done() < kills && tries.left > 0,
    async strike(round) {
      for (const end = Math.min(kills, done() + ROUND_KILLS); done() < end && tries.left > 0; tries.left -= 1) {
        await until(() => round.servers.urls().length >= RUNNING_MIN, { limit_ms: START_LIMIT_MS, look_ms: LOOK_MS });
        await sleep(Math.random() * PAUSE_MS_MAX);
        note(report, await strikeOnce(round.servers));
      }
      await round.servers.whole();
      round.killed.push(...round.servers.killed);
    },
    check: otherAnswers,
  });
}

/** At the least often hit place of the least often hit command. Null when that was not seen. */
function strikeOnce({ killer }: KillSite): Promise<Strike | null> {
  const late = Promise.withResolvers<null>();
  const limit = setTimeout(() => {
    killer.rest();
    late.resolve(null);
  }, COMMIT_LIMIT_MS);
  return Promise.race([killer.strike(rarest()), late.promise]).finally(() => clearTimeout(limit));
}

function rarest(): Wanted {
  const cells = [...hits].flatMap(([command, places]) =>
    PLACES.map((place) => ({ command, place, count: places[place], turn: Math.random() }))
  );
  return cells.reduce((one, other) =>
    other.count < one.count || (other.count === one.count && other.turn < one.turn) ? other : one
  );
}

function note(report: Report, strike: Strike | null): void {
  if (strike === null) return;
  struck(report, "server_killed");
  struck(report, `killed_${strike.place}`);
  for (const command of strike.commands) {
    const places = hits.get(command);
    if (places !== undefined) places[strike.place] += 1;
  }
}

/** What was cut off is asked once more, under its key, of a server that did not answer it. */
async function otherAnswers({ servers, load }: Round<KillSite>): Promise<string[]> {
  const cut_off = load.operations.filter(({ idempotency_key, attempts }) =>
    idempotency_key !== null && attempts.some(({ status }) => status === null)
  );
  struck(report, "asked_again", cut_off.length);
  const wrong: string[] = [];
  for (const operation of cut_off) wrong.push(...await otherAnswer(operation, servers.urls()));
  return wrong;
}

async function otherAnswer(operation: Operation, urls: readonly string[]): Promise<string[]> {
  const last = operation.attempts.at(-1);
  const url = urls.find((each) => each !== last?.url) ?? "";
  const { status, body } = await request(url, callOf(operation));
  const [told, tells] = [said(operation.answer), said(body)];
  if (status === last?.status && told === tells) return [];
  return [`told ${last?.status} ${told}, then ${status} ${tells}: ${operation.event} ${operation.path}`];
}

/** Without the request's id, which is another one each time. */
function said(body: unknown): string {
  return JSON.stringify(body, (name, value) => name === "request_id" ? undefined : value);
}

function noHits(): Record<Place, number> {
  return Object.fromEntries(PLACES.map((place) => [place, 0])) as Record<Place, number>;
}

function missed(hits: Hits): string[] {
  return [...hits].flatMap(([command, places]) =>
    PLACES.filter((place) => places[place] === 0).map((place) => `${command}, killed ${place}`)
  );
}

function printHits(hits: Hits): void {
  const row = (first: string, rest: readonly unknown[]) =>
    console.log(first.padEnd(16) + rest.map((each) => String(each).padStart(15)).join(""));
  row("killed", PLACES);
  for (const [command, places] of hits) row(command, PLACES.map((place) => places[place]));
}
