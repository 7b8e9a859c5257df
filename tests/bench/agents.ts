// Measures servers with ten thousand node agents. By default, each agent always has a poll open. Its polls are its
// heartbeats and contain its reports. With --single-calls, it sends heartbeats, reports and claims as separate calls,
// as older agents do. The agents run in their own processes, so that their processor time and memory are measured
// separately from the servers and the database. Single run: `deno run -A tests/bench/agents.ts`, with --json,
// --agents=N, --seconds=N, --servers=N, --single-calls, --apart (agents use all servers but one, and other callers use
// that one), --storm=N (this number of machines returns within 10 s) and --profile (prints the functions that use most
// time of the first server's thread).
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import type { CapacityReportBody } from "../../src/contract/agent.ts";
import { BODY_EXAMPLES } from "../../src/contract/body-examples.ts";
import {
  AGENT_CAPACITY_MS,
  AGENT_HEARTBEAT_MS,
  AGENT_STATUS_CHECK_MS,
  AGENT_STATUS_FULL_MS,
  CLAIM_WAIT_S_MAX,
  KEY_LOOKUP_CHARS,
  KEY_SECRET_CHARS,
} from "../../src/contract/limits.ts";
import { HEAP_FLAG } from "../../src/permissions.ts";
import { type DbClient, openClient } from "../../src/db/pool.ts";
import { formatApiKey } from "../../src/lib/ids/api-key.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { START_LIMIT_MS, startServer } from "../support/server-process.ts";
import { type Call, request } from "../processes/client.ts";
import { emptyBenchDatabase } from "./bench-database.ts";
import { startFleet } from "./agents-fleet.ts";
import type { NodeKey } from "./agents-node.ts";
import { comeBack, type StormReport } from "./agents-storm.ts";
import { freePort, type Share, startRecording } from "./cpu-profile.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { inventory } from "./subjects.ts";

export const AGENTS = 10_000;
/**
 * The targets: the server uses less than one core, and less than 60 KB of memory for each agent. The p99 of requests
 * from other callers is less than 100 ms.
 */
const CORES_MAX = 1;
const AGENT_BYTES_MAX = 60_000;
const OTHER_P99_MS_MAX = 100;

const PROCESSES = 4;
/**
 * The number of open files that a process needs in addition to the agents' connections. With --single-calls, an agent
 * has three connections. If the limit of open files is too low for these connections, some agents open a new connection
 * for each heartbeat.
 */
const OTHER_FILES = 300;
const ONE_TIME_CONNECTIONS = 150;
/** The starts of the agents are spread evenly over this time, so that the ends of their polls are spread, too. */
const RAMP_MS = CLAIM_WAIT_S_MAX * 1_000;
/** After this time, every long poll has ended at least once. */
const WARM_UP_MS = (CLAIM_WAIT_S_MAX + 5) * 1_000;
const WARM_UP_REQUESTS = 500;
/** The pause between two requests of the same kind from other callers than agents. */
const OTHER_EVERY_MS = 50;
/** The number of functions of a profile that are printed. */
const PROFILE_LINES = 30;
const SEED_LIMIT_MS = 120_000;
/** The length of the server's log that is shown if the server ended early. */
const LOG_CHARS = 2_000;

export type AgentsReport = {
  readonly agents: number;
  /** The number of agents at work before the warm-up. */
  readonly at_work: number;
  readonly seconds: number;
  /** The processor time divided by the measured time, or null if it cannot be measured. */
  readonly server_cores: number | null;
  readonly database_cores: number | null;
  readonly agents_cores: number;
  /** The growth of the server's resident memory for each agent, in bytes. */
  readonly bytes_per_agent: number;
  readonly server_bytes: number;
  /**
   * The rate of heartbeats that are separate calls. It is 0 if the agents poll, because their polls are their
   * heartbeats.
   */
  readonly heartbeats_per_s: number;
  readonly claims_per_s: number;
  /** The durations of heartbeats that are separate calls. Null if the agents poll. */
  readonly heartbeat: Quantiles | null;
  /** The durations of requests from other callers than agents: a read of a node, and a change of a node's role. */
  readonly read: Quantiles;
  readonly write: Quantiles;
  /** The number of calls of agents that got no successful reply. */
  readonly failed: number;
  readonly beats_once: number;
  /** The number of server processes. `server_cores` and the memory are sums over these processes. */
  readonly servers: number;
  readonly storm: StormReport | null;
  /**
   * The functions that used most time of the first server's thread, largest share first. The list is empty without
   * --profile.
   */
  readonly profile: readonly Share[];
};
type Quantiles = { readonly p50_ms: number; readonly p99_ms: number };

export type AgentsOptions = {
  readonly cluster: OwnCluster;
  readonly agents: number;
  readonly seconds: number;
  readonly servers?: number;
  /**
   * True if other callers than agents use a separate server, as behind a proxy that sends only the agents' requests to
   * the other servers.
   */
  readonly apart?: boolean;
  readonly single_calls?: boolean;
  readonly storm?: number;
  readonly is_profiled?: boolean;
};

export async function measureAgents(options: AgentsOptions): Promise<AgentsReport> {
  const { cluster, agents, seconds, servers: count = 1, apart = false, single_calls = false, storm = 0 } = options;
  const url = await emptyBenchDatabase(cluster.url, "bench_agents");
  const connections_max = await filesMax() - OTHER_FILES;
  const inspector = options.is_profiled === true ? await freePort() : null;
  const flags = ["-A", HEAP_FLAG, ...(inspector === null ? [] : [`--inspect=127.0.0.1:${inspector}`])];
  const env = { DATABASE_URL: url, BERTH_CONNECTIONS_MAX: String(connections_max) };
  const server = await startServer({ env, flags });
  const servers = [server];
  const client = await openClient({ url, statementLimit_ms: SEED_LIMIT_MS });
  try {
    while (servers.length < count) servers.push(await startServer({ env }));
    const serving = apart ? servers.slice(0, -1) : servers;
    const others_url = (apart ? servers.at(-1)! : server).url;
    const seeded = await seedApproved(client, agents + storm);
    const [nodes, returning] = [seeded.slice(0, agents), seeded.slice(agents)];
    const read = (url: string) => timeOf(url, { method: "GET", path: `/v1/system/cns/${anyOf(nodes)}` });
    const write = (turn: number, url: string) =>
      timeOf(url, {
        method: "POST",
        path: `/v1/cns/${anyOf(nodes)}/role`,
        body: { role: turn % 2 === 0 ? "edge" : "both" },
      });
    // Sends requests to each server before the measurement. So memory that the first requests allocate is not counted
    // for the agents.
    for (const { url } of servers) {
      for (let turn = 0; turn < WARM_UP_REQUESTS; turn++) await (turn % 2 === 0 ? read(url) : write(turn, url));
    }
    const resident = async () => (await Promise.all(servers.map(({ pid }) => residentBytes(pid)))).reduce(sum, 0);
    const bytes_before = await resident();
    const wanted = single_calls ? 3 * agents + ONE_TIME_CONNECTIONS - serving.length * connections_max : 0;
    const beats_once = Math.min(agents, Math.max(0, wanted));
    const fleet = startFleet({
      ports: serving.map(({ port }) => port),
      nodes,
      pace: {
        heartbeat_ms: AGENT_HEARTBEAT_MS,
        claim_wait_s: CLAIM_WAIT_S_MAX,
        error_retry_ms: AGENT_HEARTBEAT_MS,
        capacity_ms: AGENT_CAPACITY_MS,
        status: { check_ms: AGENT_STATUS_CHECK_MS, full_ms: AGENT_STATUS_FULL_MS },
        polls: !single_calls,
        asks_network: true,
      },
      capacity: BODY_EXAMPLES["POST /v1/agent/capacity"] as CapacityReportBody,
      beats_once,
      ramp_ms: RAMP_MS,
    }, PROCESSES);
    try {
      const at_work = await fleet.atWork(START_LIMIT_MS);
      await sleep(WARM_UP_MS);
      await fleet.report();
      const used = async () => {
        const own = await Promise.all(servers.map(({ pid }) => cpuTime_ms(pid)));
        return [
          own.reduce((total, each) => total === null || each === null ? null : total + each, 0 as number | null),
          await cpuTime_ms(cluster.pid()),
        ] as const;
      };
      const recording = inspector === null ? null : await startRecording(inspector);
      const from = await used();
      const start_ms = performance.now();
      const until_ms = start_ms + seconds * 1_000;
      const [reads, writes, stormed] = await Promise.all([
        repeat(() => read(others_url), until_ms),
        repeat((turn) => write(turn, others_url), until_ms),
        storm === 0 ? null : comeBack(returning, server.port),
      ]);
      const to = await used();
      const measured_ms = performance.now() - start_ms;
      const profile = await recording?.stop() ?? [];
      const server_bytes = await resident();
      const told = await fleet.report();
      const cores = (at: 0 | 1) => {
        const [first, last] = [from[at], to[at]];
        return first === null || last === null ? null : (last - first) / measured_ms;
      };
      return {
        agents,
        at_work,
        seconds,
        server_cores: cores(0),
        database_cores: cores(1),
        agents_cores: told.cpu_ms / measured_ms,
        bytes_per_agent: (server_bytes - bytes_before) / agents,
        server_bytes,
        heartbeats_per_s: told.beats / measured_ms * 1_000,
        claims_per_s: told.claims / measured_ms * 1_000,
        heartbeat: single_calls ? quantilesOf(told.beat_times_ms) : null,
        read: quantilesOf(reads),
        write: quantilesOf(writes),
        failed: told.unanswered + Object.values(told.refused).reduce((sum, count) => sum + count, 0),
        beats_once,
        servers: count,
        storm: stormed,
        profile: profile.slice(0, PROFILE_LINES),
      };
    } finally {
      await fleet.stop();
    }
  } catch (error) {
    if (server.isRunning()) throw error;
    throw new Error(`the server ended with ${await server.ended}:\n${server.log().slice(-LOG_CHARS)}`, {
      cause: error,
    });
  } finally {
    await client.end();
    for (const each of servers) await each.kill();
  }
}

/** Inserts approved nodes with their API keys, in the state after enrolment. */
export async function seedApproved(owner: DbClient, agents: number): Promise<NodeKey[]> {
  const keys = Array.from({ length: agents }, () => {
    const [lookup, secret] = [letters(KEY_LOOKUP_CHARS), letters(KEY_SECRET_CHARS)];
    const node = { server_uuid: randomUUID(), api_key: formatApiKey(lookup, secret) };
    return { node, key_id: randomUUID(), lookup, sha256: createHash("sha256").update(secret).digest("hex") };
  });
  await owner.query(
    `with made as (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) with ordinality
                as made(server_uuid, key_id, lookup, sha256, n)),
     keys as (
       insert into api_key (id, incarnation, version, state, lookup, secret_sha256, user_id, description, scope,
                            bound_to_cn, created_at)
       select key_id, gen_random_uuid(), 1, 'live', lookup, sha256, (select id from user_account where is_root limit 1),
              'agent', 'agent', server_uuid, berth_now() from made)
     insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at, approved_at,
                     bound_api_key_id)
     select server_uuid, gen_random_uuid(), 1, 'approved', 'node-' || n, 'tenant', $5::jsonb, berth_now(), berth_now(),
            key_id from made`,
    [
      keys.map(({ node }) => node.server_uuid),
      keys.map(({ key_id }) => key_id),
      keys.map(({ lookup }) => lookup),
      keys.map(({ sha256 }) => sha256),
      JSON.stringify(inventory()),
    ],
  );
  await owner.query("vacuum (analyze) cn, api_key");
  return keys.map(({ node }) => node);
}

/** Repeats an action with pauses until a time. Returns the durations. */
async function repeat(act: (turn: number) => Promise<number>, until_ms: number): Promise<number[]> {
  const times_ms: number[] = [];
  while (performance.now() < until_ms) {
    times_ms.push(await act(times_ms.length));
    await sleep(OTHER_EVERY_MS);
  }
  return times_ms;
}

async function timeOf(url: string, call: Call): Promise<number> {
  const sent_ms = performance.now();
  const { status, body } = await request(url, call);
  // A request that got 503 or no reply counts as infinitely slow.
  if (status === null || status === 503) return Infinity;
  if (status !== 200) throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
  return performance.now() - sent_ms;
}

function quantilesOf(times_ms: readonly number[]): Quantiles {
  const sorted = times_ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

function sum(total: number, each: number): number {
  return total + each;
}

async function residentBytes(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;
}

/** Returns the limit of open files of this process, which its children inherit. */
async function filesMax(): Promise<number> {
  return Number(/^Max open files\s+(\d+)/m.exec(await readFile("/proc/self/limits", "utf8"))?.[1]);
}

function anyOf(nodes: readonly NodeKey[]): string {
  return nodes[Math.floor(Math.random() * nodes.length)]!.server_uuid;
}

function letters(count: number): string {
  return randomBytes(count).toString("hex").slice(0, count);
}

function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, duration_ms));
}

export function printAgents(report: AgentsReport): void {
  const { agents, server_cores, database_cores, agents_cores, bytes_per_agent, server_bytes, read, write } = report;
  const cores = (value: number | null) => value === null ? "-" : value.toFixed(2);
  const times = ({ p50_ms, p99_ms }: Quantiles) => `${p50_ms.toFixed(1)} ${p99_ms.toFixed(1)}`;
  const { storm } = report;
  const lines: readonly (readonly [string, string | number])[] = [
    ["agents", agents],
    ["server processes", report.servers],
    ["at work", report.at_work],
    [
      "heartbeats, and claims or polls, per s",
      `${report.heartbeats_per_s.toFixed(0)} ${report.claims_per_s.toFixed(0)}`,
    ],
    ["cores: server", cores(server_cores)],
    ["cores: database", cores(database_cores)],
    ["cores: agents", cores(agents_cores)],
    ["server's memory, MB", (server_bytes / 1e6).toFixed(0)],
    ["growth of the server's memory for each agent, KB", (bytes_per_agent / 1e3).toFixed(1)],
    ...(report.heartbeat === null ? [] : [["heartbeat: p50, p99 ms", times(report.heartbeat)] as const]),
    ["another caller's read: p50, p99 ms", times(read)],
    ["another caller's write: p50, p99 ms", times(write)],
    ["calls of agents that failed", report.failed],
    ["heartbeats over one-time connections", report.beats_once],
    ...(storm === null ? [] : [
      ["machines that returned, and failures", `${storm.machines} ${storm.failed}`],
      ["return of a machine: p50, p99 ms", times(storm)],
    ] as const),
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(37)} ${value}`);
  for (const { place, share } of report.profile) console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${place}`);
  const whole = report.at_work === agents;
  const aims = [
    [`less than ${CORES_MAX} core`, whole && server_cores !== null && server_cores < CORES_MAX],
    [`less than ${AGENT_BYTES_MAX / 1e3} KB for each agent`, whole && bytes_per_agent < AGENT_BYTES_MAX],
    [
      `a p99 of other callers below ${OTHER_P99_MS_MAX} ms`,
      whole && Math.max(read.p99_ms, write.p99_ms) < OTHER_P99_MS_MAX,
    ],
  ] as const;
  if (!whole) console.log("the machine is too slow or too busy for so many agents");
  for (const [aim, met] of aims) console.log(`aim: ${aim}: ${met ? "met" : "missed"}`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      agents: { type: "string", default: String(AGENTS) },
      seconds: { type: "string", default: "30" },
      servers: { type: "string", default: "1" },
      apart: { type: "boolean", default: false },
      "single-calls": { type: "boolean", default: false },
      storm: { type: "string", default: "0" },
      profile: { type: "boolean", default: false },
    },
  });
  const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
  try {
    const report = await measureAgents({
      cluster,
      agents: Number(values.agents),
      seconds: Number(values.seconds),
      servers: Number(values.servers),
      apart: values.apart,
      single_calls: values["single-calls"],
      storm: Number(values.storm),
      is_profiled: values.profile,
    });
    if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), ...report }, null, 2));
    else printAgents(report);
  } finally {
    await cluster.remove();
  }
  // Ends the process now, because the database driver keeps idle sockets open for a while.
  process.exit(0);
}
