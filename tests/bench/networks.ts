// Measures network documents with 1,000 nodes. Before the nodes poll, measures the rate of writes to one VPC. While all
// nodes wait in polls, measures the cost of the polls without changes, and the time from a write of a firewall rule
// until each of the 100 nodes of the rule's VPC has the new document. Single run: `deno run -A
// tests/bench/networks.ts`, with --json, --rounds=N, --seconds=N.
import { randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { NetworkPollView } from "../../src/contract/network-document.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { must } from "../processes/client.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { startServer } from "../support/server-process.ts";
import { seedApproved } from "./agents.ts";
import type { NodeKey } from "./agents-node.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { openCreatesSite } from "./creates-site.ts";

const DATABASE = "bench_networks";
/** The number of rule changes that are measured. */
export const NETWORK_ROUNDS = 20;
const NODES = 1_000;
const NODES_PER_VPC = 100;
const POLL_S = 30;
/** The number of concurrent writers to one VPC. */
const WRITERS = 32;
const STATEMENT_LIMIT_MS = 60_000;
/** The benchmark fails if a changed document has not reached a node after this time. */
const ARRIVAL_LIMIT_MS = 10_000;

export type NetworksReport = {
  readonly nodes: number;
  readonly nodes_of_vpc: number;
  readonly rounds: number;
  /** The time from the request until half of the nodes have the document (median), and until all have it (last). */
  readonly median_ms: number;
  readonly last_ms: number;
  readonly last_worst_ms: number;
  /** The processor time of server and database in each second while all polls wait. */
  readonly idle_cpu_ms_per_s: number | null;
  readonly writes_per_s: number;
};

type Holder = { readonly seen: Map<string, number>; stop(): void };

export async function measureNetworks(
  cluster: OwnCluster,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<NetworksReport> {
  const url = databaseUrl(cluster.url, DATABASE);
  const owner = openPool({ url: cluster.url, connectionsMax: 1 });
  await owner.query(`drop database if exists ${DATABASE}`);
  await owner.query(`create database ${DATABASE}`);
  await owner.close();
  await migrate(url);
  const server = await startServer({ env: { DATABASE_URL: url } });
  const db = openPool({ url, connectionsMax: 1, statementLimit_ms: STATEMENT_LIMIT_MS });
  const holders: Holder[] = [];
  try {
    const site = await openCreatesSite(server.url, { nodes: 0, projects: NODES / NODES_PER_VPC });
    const nodes = await seedApproved(db, NODES);
    for (const [n, project] of site.projects.entries()) {
      await seedInstances(db, { ...project, nodes: nodes.slice(n * NODES_PER_VPC, (n + 1) * NODES_PER_VPC) });
    }
    const [project] = site.projects;
    const { vpc_id } = (await db.query<{ vpc_id: string }>("select vpc_id from subnet where id = $1", [
      project!.subnet_id,
    ])).rows[0]!;
    const createRule = async (name: string): Promise<string> => {
      const body = { name, priority: 1, direction: "inbound", action: "deny" };
      const path = `/v1/firewall-rules?vpc=${vpc_id}`;
      return (await must<{ id: string }>(server.url, { method: "POST", path, key: project!.key, body })).id;
    };
    const writes_per_s = await rateOf(() => createRule(randomUUID()), seconds);
    await db.query("delete from firewall_rule");
    holders.push(...nodes.map((node) => holdPolls(server.url, node)));
    // Continues when every node has its first document and has sent its next poll.
    await until(() => holders.every(({ seen }) => seen.size > 0));
    await sleep(2_000);
    const members = holders.slice(0, NODES_PER_VPC);
    const idle = await idleCost(server.pid, cluster, seconds);
    const times: number[][] = [];
    for (let round = 0; round < rounds; round++) {
      const started_at = performance.now();
      const id = await createRule(randomUUID());
      await until(() => members.every(({ seen }) => seen.has(id)));
      times.push(members.map(({ seen }) => seen.get(id)! - started_at).sort((a, b) => a - b));
      await sleep(100);
    }
    const lasts = times.map((round) => round.at(-1)!).sort((a, b) => a - b);
    return {
      nodes: NODES,
      nodes_of_vpc: NODES_PER_VPC,
      rounds,
      median_ms: middle(times.map((round) => middle(round)).sort((a, b) => a - b)),
      last_ms: middle(lasts),
      last_worst_ms: lasts.at(-1)!,
      idle_cpu_ms_per_s: idle,
      writes_per_s,
    };
  } finally {
    for (const holder of holders) holder.stop();
    await db.close();
    await server.kill();
  }
}

const middle = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? NaN;

/** Inserts one running instance with a NIC on each node. */
export async function seedInstances(
  db: Db,
  of: { tenant_id: string; project_id: string; subnet_id: string; image_id: string; nodes: readonly NodeKey[] },
): Promise<void> {
  await db.query(
    `with made as (
       insert into instance (id, incarnation, version, state, host_cn_uuid, image_id, tenant_id, project_id, name,
                             description, brand, cpu, memory_bytes, primary_subnet_id, ssh_key_ids, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), 1, 'running', n.id, $4, $1, $2, 'vm-' || n.n, '', 'kvm', 1,
                1073741824, $3, '{}', berth_now(), berth_now()
           from unnest($5::uuid[]) with ordinality n(id, n)
       returning id, name)
     insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4,
                      created_at)
       select m.id, $1, $2, m.id, s.vpc_id, s.id, 0, 'net0', ('02' || substr(md5(m.id::text), 1, 10))::macaddr,
              '10.0.0.0'::inet + 1 + split_part(m.name, '-', 2)::int, berth_now()
         from made m, subnet s where s.id = $3`,
    [of.tenant_id, of.project_id, of.subnet_id, of.image_id, of.nodes.map(({ server_uuid }) => server_uuid)],
  );
}

/** Polls repeatedly as one node. `seen` has the time at which each rule and each VPC's newest document arrived. */
function holdPolls(url: string, { api_key: key }: NodeKey): Holder {
  const seen = new Map<string, number>();
  let isEnded = false;
  const have: Record<string, number> = {};
  async function poll(): Promise<void> {
    while (!isEnded) {
      const body = { wait: POLL_S, have };
      const { vpcs } = await must<NetworkPollView>(url, { method: "POST", path: "/v1/agent/network/poll", key, body });
      const now = performance.now();
      for (const { vpc_id, generation, firewall_rules } of vpcs) {
        have[vpc_id] = generation;
        for (const { rule_id } of firewall_rules) if (!seen.has(rule_id)) seen.set(rule_id, now);
        seen.set(vpc_id, now);
      }
    }
  }
  poll().catch((error) => {
    if (!isEnded) throw error;
  });
  return { seen, stop: () => void (isEnded = true) };
}

async function until(is: () => boolean): Promise<void> {
  const limit_ms = performance.now() + ARRIVAL_LIMIT_MS;
  while (!is()) {
    if (performance.now() > limit_ms) throw new Error("a document did not arrive in time");
    await sleep(1);
  }
}

async function rateOf(act: () => Promise<unknown>, seconds: number): Promise<number> {
  let done = 0;
  const until_ms = performance.now() + seconds * 1_000;
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (performance.now() < until_ms) {
      await act();
      done += 1;
    }
  }));
  return done / seconds;
}

async function idleCost(pid: number, cluster: OwnCluster, seconds: number): Promise<number | null> {
  const used = () => Promise.all([cpuTime_ms(pid), cpuTime_ms(cluster.pid())]);
  const before = await used();
  await sleep(seconds * 1_000);
  const after = await used();
  const spent = after.map((ms, index) => ms === null || before[index] === null ? null : ms - before[index]!);
  return spent[0] == null || spent[1] == null ? null : (spent[0] + spent[1]) / seconds;
}

export function printNetworks(report: NetworksReport): void {
  const ms = (value: number | null) => value === null ? "unknown" : `${value.toFixed(1)} ms`;
  console.log(`\nNetwork documents: ${report.nodes} nodes wait in polls, ${report.rounds} rule changes`);
  console.log(`  a change reaches the median of ${report.nodes_of_vpc} nodes after ${ms(report.median_ms)}`);
  console.log(`  it reaches all of them after ${ms(report.last_ms)} (worst ${ms(report.last_worst_ms)})`);
  console.log(
    `  without changes, server and database use ${ms(report.idle_cpu_ms_per_s)} of processor time per second`,
  );
  console.log(`  ${WRITERS} clients create ${report.writes_per_s.toFixed(0)} rules per second in one VPC`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: String(NETWORK_ROUNDS) },
      seconds: { type: "string", default: "5" },
    },
  });
  const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
  try {
    const report = await measureNetworks(cluster, { rounds: Number(values.rounds), seconds: Number(values.seconds) });
    if (values.json) console.log(JSON.stringify(report, null, 2));
    else printNetworks(report);
  } finally {
    await cluster.remove();
  }
  // Ends the process now, because the database driver keeps idle sockets open for a while.
  process.exit(0);
}
