// Light agents in a process of their own, so that what they cost stands apart from what they measure.
// Standard input: a FleetOrder, then commands, each a line of JSON. Standard output: a FleetReport for each "report".
import process from "node:process";
import { createInterface } from "node:readline";
import type { CapacityReportBody } from "../../src/contract/agent.ts";
import { type LightNode, newTally, type NodeKey, type Pace, startNode, type Tally } from "./agents-node.ts";

export type FleetOrder = {
  readonly ports: readonly number[];
  readonly nodes: readonly NodeKey[];
  readonly pace: Pace;
  readonly capacity: CapacityReportBody | null;
  /** The first so many send each heartbeat over a connection of its own. */
  readonly beats_once: number;
  /** They begin one after another over this time. */
  readonly ramp_ms: number;
};

/** What happened since the one before. */
export type FleetReport = Tally & {
  readonly at_work: number;
  readonly vms: Readonly<Record<string, readonly string[]>>;
  /** Of this process. */
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
      // The agents keep this one for good, so the counters are set back in place.
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
        // Half of them ask one server first, half the other.
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
