// Creates more instances at once than there is room for, on 100 light node agents and two servers. One server is killed
// in the middle; its clients continue at the other server with the same Idempotency-Key. Meanwhile the network between
// agents and servers has all kinds of faults. deno run -A tests/stress/creates.ts [--creates=N]
import process from "node:process";
import { parseArgs } from "node:util";
import { openClient, openPool } from "../../src/db/pool.ts";
import { startFleet } from "../bench/agents-fleet.ts";
import type { Pace } from "../bench/agents-node.ts";
import { type Created, createOne } from "../bench/creates-client.ts";
import { capacityFor, createCall, openCreatesSite } from "../bench/creates-site.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { START_LIMIT_MS } from "../support/server-process.ts";
import { type Pair, startPair } from "../processes/pair.ts";
import { brokenRules, freeAddresses, isAtRest } from "./creates-checks.ts";
import { clientViolations, findInstances, nodeViolations } from "./creates-history.ts";
import { openAgentNetworks } from "./creates-network.ts";
import { until } from "./waiting.ts";

export type CreatesReport = {
  readonly creates: number;
  readonly room: number;
  readonly outcomes: Readonly<Record<Created["outcome"], number>>;
  readonly took_s: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** The faults that occurred. A fault that never occurred fails the run. */
  readonly faults: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
};

export const CREATES = 1_000;
const NODES = 100;
const PROJECTS = 4;
/**
 * The number of slots divided by the number of requested instances. A slot is room for one instance. The value is below
 * 1, so the last requests find no room.
 */
const ROOM_SHARE = 0.9;
/** The share of the slots that must be used by acknowledged instances before a server is killed. */
const KILLED_AT_SHARE = 0.3;
const PACE: Pace = {
  heartbeat_ms: 5_000,
  // An agent notices a lost connection only after a long poll of this length and one more request.
  claim_wait_s: 10,
  error_retry_ms: 500,
  capacity_ms: 30_000,
  status: { check_ms: 500, full_ms: 60_000 },
};
const CREATE_LIMIT_MS = 1_800_000;
const REST_LIMIT_MS = 60_000;
const LOOK_MS = 10;

export async function runCreates(creates: number): Promise<CreatesReport> {
  const cluster = await ownCluster({ fsync: "on", max_connections: "200" });
  try {
    const url = await makeDatabase(cluster.url, "trial_creates");
    const pair = await startPair({ DATABASE_URL: url });
    try {
      return await createUnderFaults(creates, pair, url);
    } finally {
      await pair.end();
    }
  } finally {
    await cluster.remove();
  }
}

async function createUnderFaults(creates: number, pair: Pair, url: string): Promise<CreatesReport> {
  const slots = Math.ceil(creates * ROOM_SHARE / NODES);
  const { nodes, projects } = await openCreatesSite(pair.urls()[0]!, { nodes: NODES, projects: PROJECTS });
  const networks = await openAgentNetworks(pair.urls().map((each) => Number(new URL(each).port)));
  const fleet = startFleet({
    ports: networks.ports,
    nodes,
    pace: PACE,
    capacity: capacityFor(slots),
    beats_once: 0,
    ramp_ms: PACE.heartbeat_ms,
  });
  const db = openPool({ url, applicationName: "checks", statementLimit_ms: REST_LIMIT_MS });
  try {
    await fleet.allAtWork(START_LIMIT_MS);
    const free = await freeAddresses(db);
    const load = createAll(
      creates,
      (index) =>
        createOne(createCall(projects[index % PROJECTS]!), {
          urls: pair.urls,
          first: index,
          limit_ms: CREATE_LIMIT_MS,
        }),
    );
    const faults_caused = networks.causeFaults();
    const killed_at = slots * NODES * KILLED_AT_SHARE;
    await until(() => load.acknowledged() >= killed_at || load.over(), { limit_ms: CREATE_LIMIT_MS, look_ms: LOOK_MS });
    const before = load.over() ? 0 : load.acknowledged();
    await pair.kill(0);
    const { made, took_s } = await load.all;
    await faults_caused;
    // Some operations have no client that waits for them. The checks report the operations that do not end in time.
    await until(() => isAtRest(db), { limit_ms: REST_LIMIT_MS, look_ms: LOOK_MS });
    const agents = await fleet.report();
    const instances = await findInstances(db);
    const taken = free - await freeAddresses(db);
    return {
      ...summary(made),
      room: slots * NODES,
      took_s,
      faults: {
        "servers killed": 1,
        "acknowledged before the kill": before,
        "acknowledged after the kill": load.acknowledged() - before,
        "attempts without an answer": sum(made, ({ unanswered }) => unanswered),
        "acknowledged by the other server": sum(made, ({ went_over, id }) => went_over && id !== null ? 1 : 0),
        "calls of agents without an answer": agents.unanswered,
        ...networks.happened(),
        "refused for lack of room": sum(made, ({ outcome }) => outcome === "no_room" ? 1 : 0),
      },
      violations: [
        ...await brokenRules(db),
        ...await brokenInvariants(db),
        ...clientViolations(made, instances),
        ...nodeViolations(agents, instances),
        ...(taken === instances.length ? [] : [`${taken} addresses are taken for ${instances.length} instances`]),
      ],
    };
  } finally {
    await fleet.stop();
    await networks.close();
    await db.close();
  }
}

/** Starts all creates at once. */
function createAll(creates: number, create: (index: number) => Promise<Created>) {
  const start_ms = performance.now();
  let acknowledged = 0;
  let over = false;
  const all = Promise.all(Array.from({ length: creates }, async (_, index) => {
    const made = await create(index);
    if (made.outcome === "acknowledged") acknowledged += 1;
    return made;
  })).then((made) => ({ made, took_s: (performance.now() - start_ms) / 1_000 })).finally(() => over = true);
  return { all, acknowledged: () => acknowledged, over: () => over };
}

function summary(made: readonly Created[]) {
  const number = (wanted: Created["outcome"]) => sum(made, ({ outcome }) => outcome === wanted ? 1 : 0);
  const times_ms = made.filter(({ id }) => id !== null).map(({ took_ms }) => took_ms).sort((a, b) => a - b);
  return {
    creates: made.length,
    outcomes: {
      acknowledged: number("acknowledged"),
      no_room: number("no_room"),
      failed: number("failed"),
      unknown: number("unknown"),
    },
    p50_ms: times_ms[Math.floor(times_ms.length * 0.5)] ?? NaN,
    p99_ms: times_ms[Math.floor(times_ms.length * 0.99)] ?? NaN,
    answers: {
      "answered that it still runs": sum(made, ({ still_running }) => still_running),
      "answered with a retry": sum(made, ({ busy }) => busy),
    },
  };
}

function sum(made: readonly Created[], of: (each: Created) => number): number {
  return made.reduce((total, each) => total + of(each), 0);
}

async function makeDatabase(server_url: string, name: string): Promise<string> {
  const client = await openClient({ url: server_url, statementLimit_ms: REST_LIMIT_MS });
  await client.query(`create database ${name}`);
  await client.end();
  return databaseUrl(server_url, name);
}

const VIOLATIONS_SHOWN = 20;

/** Prints the report. Returns whether every check passed and every fault occurred. */
export function printCreates(report: CreatesReport): boolean {
  const { creates, room, outcomes, took_s, p50_ms, p99_ms, faults, answers, violations } = report;
  const lines: readonly (readonly [string, string | number])[] = [
    ["creates at once", creates],
    ["room on all nodes", room],
    ...Object.entries(outcomes).map(([name, count]) => [`  ${name.replace("_", " ")}`, count] as const),
    ["seconds until all outcomes were known", took_s.toFixed(1)],
    ["p50 and p99 of created instances, s", `${(p50_ms / 1_000).toFixed(1)} ${(p99_ms / 1_000).toFixed(1)}`],
    ...Object.entries(faults),
    ...Object.entries(answers),
    ["violations", violations.length],
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(38)} ${value}`);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(`  ${text}`);
  const silent = Object.entries(faults).filter(([, number]) => number === 0).map(([name]) => name);
  for (const name of silent) console.log(`never happened: ${name}`);
  return violations.length === 0 && silent.length === 0;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { creates: { type: "string", default: String(CREATES) } } });
  process.exit(printCreates(await runCreates(Number(values.creates))) ? 0 : 1);
}
