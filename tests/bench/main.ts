// Measures rates and compares them with yardsticks: durable transitions per second (the yardstick is pgbench's simple
// update on the same server), requests over HTTP, and created instances. The runs of Berth and of a yardstick
// alternate, so that other load on the machine affects both. Then measures networks, node agents and the starts of the
// executables. Options: --json, --rounds=N, --seconds=N; --rates measures only the rates, which are in the first table.
import process from "node:process";
import { parseArgs } from "node:util";
import { createEngine } from "../../actors/engine/engine.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { ownCluster } from "../support/cluster.ts";
import { benchDatabase } from "./bench-database.ts";
import { AGENTS, measureAgents, printAgents } from "./agents.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { measureCreates } from "./creates.ts";
import { runHttpLoad } from "./http.ts";
import { measureNetwork, printNetwork, SAMPLES } from "./network.ts";
import { measureNetworks, NETWORK_ROUNDS, printNetworks } from "./networks.ts";
import { preparePgbench, type Yardstick } from "./pgbench.ts";
import { measureRequests } from "./requests.ts";
import { type Line, summarise } from "./report.ts";
import { measureStarts, printStarts } from "./start-time.ts";
import { cnSubject, lampSubject, type Subject } from "./subjects.ts";
import { printRates } from "./table.ts";
import { runEngineLoad } from "./engine-load.ts";

const ACTORS = 1_000;
/**
 * The number of concurrent senders to one busy actor. There are enough senders that new messages wait while the engine
 * commits the earlier messages.
 */
const HOT_SENDERS = 512;
const HTTP_CONNECTIONS = 250;
const HTTP_NAME = `HTTP: ${ACTORS} actors, ${HTTP_CONNECTIONS} connections`;
/** The server answers a poll after at most AGENT_POLL_S_MAX, so each agent polls at least once in AGENTS_SECONDS. */
const AGENTS_SECONDS = 30;
const DATABASE = "bench_engine";
/**
 * The statement timeout of the counts. A count of a million rows takes longer than the statement timeout of Berth's
 * server.
 */
const COUNT_LIMIT_MS = 60_000;

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rates: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "5" },
  },
});
const seconds = Number(values.seconds);
const note = values.json ? () => {} : (line: string) => console.error(line);

const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
try {
  const yardstick = await preparePgbench(cluster.url);
  if (yardstick === null) note("pgbench was not found (Debian has it in postgresql-contrib): rates without ratios");
  const lines: Line[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const subject of [lampSubject, cnSubject]) {
      note(`round ${round} of ${values.rounds}: ${subject.name}`);
      lines.push(...await runGroup(subject, yardstick));
    }
  }
  const summary = summarise(lines);
  note("requests over HTTP");
  const requests = await measureRequests({ cluster, yardstick, rounds: Number(values.rounds), seconds });
  if (requests.length === 0) note("wrk was not found (Debian has it in wrk): the table has no rows of requests");
  note("creates of instances");
  const creates = await measureCreates({ cluster, yardstick, rounds: Number(values.rounds), seconds });
  const rates = { lines: summary, requests, creates };
  const others = values.rates ? null : await measureOthers();
  if (values.json) {
    console.log(JSON.stringify({ measured_at: new Date().toISOString(), ...rates, ...others }, null, 2));
  } else {
    printRates(rates);
    if (others !== null) printOthers(others);
  }
} finally {
  await cluster.remove();
}
// Ends the process now, because the database driver keeps idle sockets open for a while.
process.exit(0);

/** Runs the measurements that are not in the table of rates. */
async function measureOthers() {
  note("networks with few and with many rows");
  const network = await measureNetwork(cluster, SAMPLES);
  note("network documents");
  const networks = await measureNetworks(cluster, { rounds: NETWORK_ROUNDS, seconds });
  note(`${AGENTS} node agents`);
  const agents = await measureAgents({ cluster, agents: AGENTS, seconds: AGENTS_SECONDS });
  note("starts of the executables");
  return { network, networks, agents, starts: await measureStarts() };
}

function printOthers({ network, networks, agents, starts }: Awaited<ReturnType<typeof measureOthers>>): void {
  printNetwork(network);
  printNetworks(networks);
  printAgents(agents);
  printStarts(starts);
}

/** Runs all loads of one subject on a new database between two runs of pgbench. */
async function runGroup(subject: Subject, yardstick: Yardstick | null): Promise<Line[]> {
  const url = await benchDatabase(cluster.url, DATABASE);
  const owner = openPool({ url, statementLimit_ms: COUNT_LIMIT_MS, connectionsMax: 1 });
  const db = openPool({ url, role: "berth_app", statementLimit_ms: COUNT_LIMIT_MS });
  try {
    await subject.prepare(owner);
    const ids = await subject.seed(owner, ACTORS);
    const store = createStore(db, [subject.behavior]);
    const engine = createEngine({ store, behaviors: [subject.behavior], ports: productionPorts() });
    const sent = new Map<string, number>();
    const runOne = (name: string, actors: number, senders: number) =>
      runEngineLoad({
        engine,
        subject,
        ids: ids.slice(0, actors),
        sent,
        senders,
        seconds,
        db,
        serverPid: cluster.pid(),
      })
        .then((result) => ({ subject: subject.name, name, ...result }));
    const before = await measureYardstick(yardstick);
    const results: Omit<Line, keyof Pgbench>[] = [
      await runOne("1 actor, 1 outstanding", 1, 1),
      await runOne(`1 actor, ${HOT_SENDERS} outstanding`, 1, HOT_SENDERS),
      await runOne(`${ACTORS} actors, 1 outstanding each`, ACTORS, 1),
    ];
    if (subject === cnSubject) {
      results.push({ ...await throughHttp(url, ids, db), subject: subject.name, name: HTTP_NAME });
    }
    const after = await measureYardstick(yardstick);
    return results.map((result) => ({ ...result, ...meanOf(before, after) }));
  } finally {
    await db.close();
    await owner.close();
  }
}

type Pgbench = Pick<Line, "pgbench_tps" | "pgbench_cpu_us">;

async function measureYardstick(yardstick: Yardstick | null): Promise<Pgbench> {
  if (yardstick === null) return { pgbench_tps: null, pgbench_cpu_us: null };
  // The time of this process includes pgbench, because pgbench is a child that has ended.
  const used_ms = () => Promise.all([cpuTime_ms(process.pid), cpuTime_ms(cluster.pid())]);
  const [oursBefore, serverBefore] = await used_ms();
  const pgbench_tps = await yardstick.run(seconds);
  const [oursAfter, serverAfter] = await used_ms();
  const known = oursBefore !== null && oursAfter !== null && serverBefore !== null && serverAfter !== null;
  const cpu_ms = known ? oursAfter - oursBefore + serverAfter - serverBefore : null;
  return { pgbench_tps, pgbench_cpu_us: cpu_ms === null ? null : cpu_ms * 1_000 / (pgbench_tps * seconds) };
}

function meanOf(one: Pgbench, other: Pgbench): Pgbench {
  const mean = (a: number | null, b: number | null) => a === null || b === null ? null : (a + b) / 2;
  return {
    pgbench_tps: mean(one.pgbench_tps, other.pgbench_tps),
    pgbench_cpu_us: mean(one.pgbench_cpu_us, other.pgbench_cpu_us),
  };
}

function throughHttp(databaseUrl: string, ids: readonly string[], db: Db) {
  return runHttpLoad({ databaseUrl, ids, connections: HTTP_CONNECTIONS, seconds, db, serverPid: cluster.pid() });
}
