// Runs light agents in a separate process, so that their processor time can be measured separately. Standard input is a
// FleetOrder and then commands, each as one line of JSON. Standard output is a FleetReport for each command "report".
import process from "node:process";
import { createInterface } from "node:readline";
import type { CapacityReportBody } from "../../src/contract/agent.ts";
import { type LightNode, newTally, type NodeKey, type Pace, startNode, type Tally } from "./agents-node.ts";

export type FleetOrder = {
  readonly ports: readonly number[];
  readonly nodes: readonly NodeKey[];
  readonly pace: Pace;
  readonly capacity: CapacityReportBody | null;
  /** The number of agents that open a new connection for each heartbeat. */
  readonly beats_once: number;
  /** The time over which the starts of the agents are spread. */
  readonly ramp_ms: number;
};

/** The counters since the previous report, and the present state of the agents. */
export type FleetReport = Tally & {
  readonly at_work: number;
  readonly vms: Readonly<Record<string, readonly string[]>>;
  /** The processor time of this process since the previous report, in milliseconds. */
  readonly cpu_ms: number;
};

if (import.meta.main) await serve();

async function serve(): Promise<void> {
  let tally = newTally();
  let nodes: readonly (readonly [string, LightNode])[] = [];
  let cpu = process.cpuUsage();
  for await (const line of createInterface({ input: process.stdin })) {
    const told = JSON.parse(line) as FleetOrder | "report";
    if (told !== "report") {
      // The agents keep a reference to `tally`, so a report resets the counters of this object.
      nodes = begin(told, tally);
      continue;
    }
    const { user, system } = process.cpuUsage(cpu);
    const report: FleetReport = {
      ...structuredClone(tally),
      at_work: nodes.filter(([, node]) => node.isAtWork()).length,
      vms: Object.fromEntries(nodes.map(([id, node]) => [id, node.vms()])),
      cpu_ms: (user + system) / 1_000,
    };
    console.log(JSON.stringify(report));
    tally = Object.assign(tally, newTally());
    cpu = process.cpuUsage();
  }
  process.exit(0);
}

function begin(order: FleetOrder, tally: Tally) {
  const { ports, nodes, pace, capacity, beats_once, ramp_ms } = order;
  return nodes.map((node, index) =>
    [
      node.server_uuid,
      startNode(node, {
        // Successive agents begin with different servers.
        ports: ports.map((_, at) => ports[(at + index) % ports.length]!),
        pace,
        capacity,
        begin_ms: ramp_ms * index / nodes.length,
        beats_once: index < beats_once,
        tally,
      }),
    ] as const
  );
}
