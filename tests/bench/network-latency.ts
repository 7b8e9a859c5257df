// Measures the time from a tenant's request for a firewall rule until packets pass, and from the delete of the rule
// until packets stop. A complete control plane serves two node agents, of which only the network part runs. The routers
// of these nodes are in the kernel. A guest on one node sends a datagram every 5 ms to a guest on the other node.
// Single run: `deno run -A tests/bench/network-latency.ts`, with --json, --rounds=N. Needs root, iproute2, nftables,
// conntrack and python3.
import process from "node:process";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { processEnvironment } from "../../cli/internal/environment.ts";
import type { Agent } from "../../nodeagent/agent.ts";
import { createPolls } from "../../nodeagent/agent-poll.ts";
import { openDocumentStore } from "../../nodeagent/network/document-store.ts";
import { tapName } from "../../nodeagent/network/names.ts";
import { createNodeNetwork, type NodeNetwork } from "../../nodeagent/network/node-network.ts";
import { createFollower } from "../../nodeagent/network/poll.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { NODES } from "../networks/documents.ts";
import { type NetworkSite, openNetworkSite } from "../networks/site.ts";
import { must } from "../processes/client.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { seedApproved } from "./agents.ts";
import type { NodeKey } from "./agents-node.ts";
import { openCreatesSite } from "./creates-site.ts";
import { seedInstances } from "./networks.ts";

const DATABASE = "bench_latency";
const ROUNDS = 100;
const PORT = 9_000;
/** The MACs and addresses of the guests' NICs, by node. */
const GUESTS = {
  n1: { mac: "02:00:00:00:00:01", address: "10.0.0.2" },
  n2: { mac: "02:00:00:00:00:02", address: "10.0.0.3" },
} as const;
type NodeName = keyof typeof GUESTS;
const NODE_NAMES = Object.keys(GUESTS) as readonly NodeName[];
/**
 * A silence of this length means that packets are denied, because it is much longer than the sender's interval of 5 ms.
 */
const SILENCE_MS = 100;
/** The benchmark fails if a change is not in force after this time. */
const LIMIT_MS = 30_000;
const STATEMENT_LIMIT_MS = 60_000;

/**
 * A program that sends a datagram every 5 ms. It changes the source port five times a second, so that new connections
 * begin.
 */
const SENDER = `
import socket, sys, time
while True:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        try: sender.sendto(b"x", (sys.argv[1], int(sys.argv[2])))
        except OSError: pass
        time.sleep(0.005)
    sender.close()
`;
/** A program that prints a line for each datagram, but at most one line in 10 ms. */
const RECEIVER = `
import socket, sys, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", int(sys.argv[1])))
last = 0
while True:
    receiver.recv(64)
    now = time.monotonic()
    if now - last >= 0.01:
        last = now
        print("x", flush=True)
`;

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, rounds: { type: "string", default: String(ROUNDS) } },
});
const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
const folder = await temporaryFolder("latency");
const stop = new AbortController();
const url = databaseUrl(cluster.url, DATABASE);
const owner = openPool({ url: cluster.url, connectionsMax: 1 });
await owner.query(`create database ${DATABASE}`);
await owner.close();
await migrate(url);
const server = await startServer({ env: { DATABASE_URL: url } });
const db = openPool({ url, connectionsMax: 1, statementLimit_ms: STATEMENT_LIMIT_MS });
const net = await openNetworkSite({ as_root: true });
const programs: ChildProcess[] = [];
const networks: NodeNetwork[] = [];
try {
  const { vpc_id, key } = await prepare(db);
  for (const node of NODE_NAMES) await plug(net, node);
  // Compares the kernel's network state with the documents of the nodes. This also finds the taps that were plugged in
  // above.
  for (const network of networks) await network.repair();
  const guest = (node: NodeName, source: string, ...words: readonly string[]) => {
    const argv = net.argvIn(`vm-${node}`, ["python3", "-u", "-c", source, ...words]);
    const child = spawn(argv[0]!, argv.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    programs.push(child);
    return child;
  };
  let received_ms = -Infinity;
  createInterface({ input: guest("n1", RECEIVER, String(PORT)).stdout }).on("line", () => {
    received_ms = performance.now();
  });
  guest("n2", SENDER, GUESTS.n1.address, String(PORT));
  const isSilent = async () => await until(() => performance.now() - received_ms > SILENCE_MS);
  const rule = async (name: string, priority: number, action: "allow" | "deny") => {
    const body = { name, priority, direction: "inbound", action, protocol: "udp" };
    return await must<{ id: string }>(server.url, {
      method: "POST",
      path: `/v1/firewall-rules?vpc=${vpc_id}`,
      key,
      body,
    });
  };
  await rule("closed", 1, "deny");
  // The first round is not counted, because its packets wait for ARP, which repeats a lost request after 1 s.
  const { id: first_id } = await rule("first", 2, "allow");
  await until(() => received_ms > -Infinity);
  await must(server.url, { method: "DELETE", path: `/v1/firewall-rules/${first_id}`, key });
  await isSilent();
  const [passing, answered, stopping] = [[] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < Number(values.rounds); round++) {
    const posted_ms = performance.now();
    const waiting = until(() => received_ms > posted_ms);
    const { id } = await rule(`open-${round}`, 2, "allow");
    answered.push(performance.now() - posted_ms);
    await waiting;
    passing.push(received_ms - posted_ms);
    await sleep(SILENCE_MS);
    const deleted_ms = performance.now();
    await must(server.url, { method: "DELETE", path: `/v1/firewall-rules/${id}`, key });
    // Also waits for the documents of the nodes, because the sender can pause for longer than SILENCE_MS on a busy
    // machine.
    await until(() => networks.every((network) => isCurrent(network, id)));
    await isSilent();
    stopping.push(received_ms - deleted_ms);
  }
  const report = {
    rounds: passing.length,
    answered: spread(answered),
    passing: spread(passing),
    stopping: spread(stopping),
  };
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else {
    const line = (name: string, { p50, p99 }: { p50: number; p99: number }) =>
      console.log(`  ${name.padEnd(54)} p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
    console.log(`\nFrom a tenant's request to the packets, ${report.rounds} rounds`);
    line("the answer to the request", report.answered);
    line("the first packet that passes after the rule is created", report.passing);
    line("the last packet that passes after a delete", report.stopping);
  }
} finally {
  stop.abort();
  for (const program of programs) program.kill("SIGKILL");
  await net.close();
  await db.close();
  await server.kill();
  await cluster.remove();
  await folder.remove();
}
process.exit(0);

/** Creates a VPC with an instance on each node, and starts the network part of the nodes' agents. */
async function prepare(db: Db): Promise<{ vpc_id: string; key: string }> {
  const { projects: [project] } = await openCreatesSite(server.url, { nodes: 0, projects: 1 });
  const nodes = await seedApproved(db, NODE_NAMES.length);
  await seedInstances(db, { ...project!, nodes });
  for (const [index, node] of NODE_NAMES.entries()) {
    const { server_uuid } = nodes[index]!;
    await db.query("update cn set underlay_address = $2 where server_uuid = $1", [server_uuid, NODES[node]]);
    await db.query(
      "update nic set mac = $2, primary_ipv4 = $3 where instance_id = (select id from instance where host_cn_uuid = $1)",
      [server_uuid, GUESTS[node].mac, GUESTS[node].address],
    );
    await follow(node, nodes[index]!);
  }
  const { rows } = await db.query<{ vpc_id: string }>("select vpc_id from subnet where id = $1", [project!.subnet_id]);
  return { vpc_id: rows[0]!.vpc_id, key: project!.key };
}

/** Runs only the network part of a node's agent. */
async function follow(node: NodeName, { server_uuid, api_key }: NodeKey): Promise<void> {
  const log = (line: string) => console.error(`${node}: ${line}`);
  const store = await openDocumentStore(`${folder.path}/${node}`, log);
  const network = createNodeNetwork({ driver: net.driver(node), store, log });
  networks.push(network);
  // The cast is safe, because the network poll reads only these parts of an agent.
  const agent = {
    environment: processEnvironment(stop.signal),
    link: { endpoint: server.url, user_agent: "bench" },
    driver: { network, hardware: () => Promise.resolve({ server_uuid }) },
    timers: { claim_wait_s: 30, error_retry_ms: 1_000, heartbeat_ms: 10_000, job_poll_ms: 1_000 },
  } as unknown as Agent;
  const polls = createPolls({ agent, api_key, active: new Set(), riders: [] });
  const { poll, repair } = createFollower(agent, api_key, polls);
  for (const loop of [poll, repair]) {
    loop().catch((error) => {
      if (!stop.signal.aborted) throw error;
    });
  }
  await until(() => network.realizations().some(({ status }) => status === "applied"));
}

/** Connects a guest to the router that the node's agent made. */
async function plug({ run }: NetworkSite, node: NodeName): Promise<void> {
  const { mac, address } = GUESTS[node];
  const router = (await run(["ip", "netns", "list"])).match(new RegExp(`^${node}-\\d+`, "m"))![0];
  const guest = `vm-${node}`;
  await run(["ip", "netns", "add", guest]);
  await run(["ip", "-n", router, "link", "add", tapName(mac), "type", "veth", "peer", "name", "eth0", "netns", guest]);
  await run(["ip", "-n", guest, "link", "set", "eth0", "address", mac, "up"]);
  await run(["ip", "-n", guest, "addr", "add", `${address}/32`, "dev", "eth0"]);
  await run(["ip", "-n", guest, "route", "add", "10.0.0.1", "dev", "eth0"]);
  await run(["ip", "-n", guest, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0"]);
}

/** Returns whether the node has applied a document without the rule. */
function isCurrent(network: NodeNetwork, rule_id: string): boolean {
  return network.realizations().every(({ status }) => status === "applied") &&
    network.documents().every(({ firewall_rules }) => firewall_rules.every((rule) => rule.rule_id !== rule_id));
}

async function until(is: () => boolean): Promise<void> {
  const limit_ms = performance.now() + LIMIT_MS;
  while (!is()) {
    if (performance.now() > limit_ms) throw new Error("a change is not in force in time");
    await sleep(1);
  }
}

function spread(samples: readonly number[]): { p50: number; p99: number } {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
