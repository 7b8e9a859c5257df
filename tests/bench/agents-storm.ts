// Simulates many machines that return at the same time, as a rack does after a power failure. Each machine registers
// with its key, reads its configuration and sends its first poll. All machines start within 10 s.
import type { AgentPollBody } from "../../src/contract/agent-poll.ts";
import type { Registration } from "../../src/contract/agent.ts";
import { openWire, type WireCall } from "./agents-wire.ts";
import type { NodeKey } from "./agents-node.ts";
import { inventory } from "./subjects.ts";

export type StormReport = {
  readonly machines: number;
  /** The number of machines for which a call failed. */
  readonly failed: number;
  /** The times from the registration to the answer of the first poll. */
  readonly p50_ms: number;
  readonly p99_ms: number;
};

/** The time within which all machines return. */
const STORM_MS = 10_000;
const CALL_LIMIT_MS = 15_000;

export async function comeBack(nodes: readonly NodeKey[], port: number): Promise<StormReport> {
  const times_ms = await Promise.all(nodes.map(async (node) => {
    await new Promise((wake) => setTimeout(wake, Math.random() * STORM_MS));
    return await comeBackOne(node, port);
  }));
  const served = times_ms.filter((each) => each !== null).toSorted((a, b) => a - b);
  const at = (share: number) => served[Math.floor(served.length * share)] ?? NaN;
  return { machines: nodes.length, failed: nodes.length - served.length, p50_ms: at(0.5), p99_ms: at(0.99) };
}

/** Makes the calls of one machine. Returns their duration, or null if a call failed. */
async function comeBackOne({ server_uuid, api_key: key }: NodeKey, port: number): Promise<number | null> {
  const wire = openWire({ ports: [port] });
  const begun_ms = performance.now();
  const registration: Registration = { server_uuid, hostname: "node-back", sysinfo: inventory() };
  const poll: AgentPollBody = { server_uuid, wait: 0, running_jobs: [], work: {}, network: { have: {} } };
  const calls: readonly Pick<WireCall, "method" | "path" | "body">[] = [
    { method: "POST", path: "/v1/agent/register", body: registration },
    { method: "GET", path: "/v1/agent/config" },
    { method: "POST", path: "/v1/agent/poll", body: poll },
  ];
  try {
    for (const call of calls) {
      const answer = await wire.ask({ ...call, key, limit_ms: CALL_LIMIT_MS });
      if (answer === null || answer.status >= 300) return null;
    }
    return performance.now() - begun_ms;
  } finally {
    wire.close();
  }
}
