// Kills servers during commits: three servers on one database under load. For each command, SIGKILL hits a server at
// each place of the command's commit (commit-kills-watch.ts). The clients repeat their requests at another server with
// the same Idempotency-Key and get the same answer (docs/reliability.md, R-01). deno run -A
// tests/stress/commit-kills.ts [--kills N]
import process from "node:process";
import { parseArgs } from "node:util";
import { START_LIMIT_MS } from "../support/server-process.ts";
import { callOf, type Operation, request } from "../processes/client.ts";
import { type KillSite, openKillSite } from "./commit-kills-site.ts";
import { type Kill, type Place, PLACES, type Wanted } from "./commit-kills-watch.ts";
import { countFault, isGood, newReport, printReport, type Report } from "./report.ts";
import { type Round, runRounds } from "./rounds.ts";
import { sleep, until } from "./waiting.ts";

const KILLS = "60";
const ROUND_KILLS = 60;
/** The commands of the load. Servers are killed during the commits of these commands. */
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
/** How long to wait for a commit of the wanted command; after that, another command may be tried. */
const COMMIT_LIMIT_MS = 10_000;
/** The number of servers that must run before a kill, so that the clients of the killed server have another server. */
const RUNNING_MIN = 2;
const LOOK_MS = 10;
const PAUSE_MS_MAX = 100;

/** The number of kills by command and place of its commit. */
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
    async causeFaults(round) {
      for (const end = Math.min(kills, done() + ROUND_KILLS); done() < end && tries.left > 0; tries.left -= 1) {
        const running = () => round.servers.urls().length >= RUNNING_MIN;
        if (!await until(running, { limit_ms: START_LIMIT_MS, look_ms: LOOK_MS })) {
          throw new Error(`fewer than ${RUNNING_MIN} servers run`);
        }
        await sleep(Math.random() * PAUSE_MS_MAX);
        note(report, await killOnce(round.servers));
      }
      await round.servers.whole();
      round.killed.push(...round.servers.killed);
    },
    check: otherAnswers,
  });
}

/**
 * Kills a server at the combination of command and place that was hit least often. Returns null if no server commits
 * the command in time.
 */
function killOnce({ killer }: KillSite): Promise<Kill | null> {
  const late = Promise.withResolvers<null>();
  const limit = setTimeout(() => {
    killer.rest();
    late.resolve(null);
  }, COMMIT_LIMIT_MS);
  return Promise.race([killer.killDuring(rarest()), late.promise]).finally(() => clearTimeout(limit));
}

function rarest(): Wanted {
  const cells = [...hits].flatMap(([command, places]) =>
    PLACES.map((place) => ({ command, place, count: places[place], turn: Math.random() }))
  );
  return cells.reduce((one, other) =>
    other.count < one.count || (other.count === one.count && other.turn < one.turn) ? other : one
  );
}

function note(report: Report, kill: Kill | null): void {
  if (kill === null) return;
  countFault(report, "server_killed");
  countFault(report, `killed_${kill.place}`);
  for (const command of kill.commands) {
    const places = hits.get(command);
    if (places !== undefined) places[kill.place] += 1;
  }
}

/** Repeats each interrupted operation with its key at another server. Lists answers that differ from the first. */
async function otherAnswers({ servers, load }: Round<KillSite>): Promise<string[]> {
  const cut_off = load.operations.filter(({ idempotency_key, attempts }) =>
    idempotency_key !== null && attempts.some(({ status }) => status === null)
  );
  countFault(report, "asked_again", cut_off.length);
  const wrong: string[] = [];
  for (const operation of cut_off) wrong.push(...await otherAnswer(operation, servers.urls()));
  return wrong;
}

async function otherAnswer(operation: Operation, urls: readonly string[]): Promise<string[]> {
  const last = operation.attempts.at(-1);
  const url = urls.find((each) => each !== last?.url) ?? "";
  const { status, body } = await request(url, callOf(operation));
  const [first, second] = [textOf(operation.answer), textOf(body)];
  if (status === last?.status && first === second) return [];
  return [`answered ${last?.status} ${first}, then ${status} ${second}: ${operation.event} ${operation.path}`];
}

/** Returns the body without the request's id, which differs each time. */
function textOf(body: unknown): string {
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
