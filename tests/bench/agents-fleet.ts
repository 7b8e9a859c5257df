// Starts and controls processes that each run many light agents (agents-node.ts).
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { FleetOrder, FleetReport } from "./agents-process.ts";

export type Fleet = {
  /** Returns the counters since the last report and the present state of the agents, for all processes together. */
  report(): Promise<FleetReport>;
  /**
   * Waits until every agent is at work, or until the limit has passed. Returns the number of agents at work. An agent
   * is at work if the server accepted its heartbeat and the agent waits for jobs.
   */
  atWork(limit_ms: number): Promise<number>;
  /** Waits like `atWork`. Throws if not all agents are at work when the limit has passed. */
  allAtWork(limit_ms: number): Promise<void>;
  stop(): Promise<void>;
};

const LOOK_MS = 250;

/** Starts the processes and divides the nodes among them. */
export function startFleet(order: FleetOrder, processes = 1): Fleet {
  const shares = Array.from({ length: processes }, (_, index) => {
    const nodes = order.nodes.filter((_, at) => at % processes === index);
    return startProcess({ ...order, nodes, beats_once: Math.ceil(order.beats_once / processes) });
  });
  const report = async () => merge(await Promise.all(shares.map((share) => share.report())));
  const atWork = async (limit_ms: number) => {
    for (const end = performance.now() + limit_ms;;) {
      const { at_work } = await report();
      if (at_work === order.nodes.length || performance.now() > end) return at_work;
      await new Promise((wake) => setTimeout(wake, LOOK_MS));
    }
  };
  return {
    report,
    atWork,
    async allAtWork(limit_ms) {
      const at_work = await atWork(limit_ms);
      if (at_work < order.nodes.length) throw new Error(`only ${at_work} of ${order.nodes.length} agents are at work`);
    },
    stop: async () => void await Promise.all(shares.map((share) => share.stop())),
  };
}

function startProcess(order: FleetOrder) {
  const script = fileURLToPath(new URL("agents-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["run", "-A", script], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const waiting: PromiseWithResolvers<FleetReport>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(JSON.parse(line)));
  void ended.then(() => waiting.forEach(({ reject }) => reject(new Error("a process of agents ended"))));
  const tell = (what: FleetOrder | "report") => child.stdin.write(`${JSON.stringify(what)}\n`);
  // Sends the order through standard input, because keys must not be in an argument list.
  tell(order);
  return {
    report: () => {
      const answer = Promise.withResolvers<FleetReport>();
      waiting.push(answer);
      tell("report");
      return answer.promise;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

function merge(reports: readonly FleetReport[]): FleetReport {
  const sum = (of: (report: FleetReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const counts = (of: (report: FleetReport) => Record<string, number>) => {
    const total: Record<string, number> = {};
    for (const [name, count] of reports.flatMap((report) => Object.entries(of(report)))) {
      total[name] = (total[name] ?? 0) + count;
    }
    return total;
  };
  return {
    beats: sum(({ beats }) => beats),
    beat_times_ms: reports.flatMap(({ beat_times_ms }) => beat_times_ms),
    claims: sum(({ claims }) => claims),
    reports: sum((each) => each.reports),
    jobs: counts(({ jobs }) => jobs),
    tombstones: sum(({ tombstones }) => tombstones),
    unanswered: sum(({ unanswered }) => unanswered),
    refused: counts(({ refused }) => refused),
    at_work: sum(({ at_work }) => at_work),
    vms: Object.assign({}, ...reports.map(({ vms }) => vms)),
    cpu_ms: sum(({ cpu_ms }) => cpu_ms),
  };
}
