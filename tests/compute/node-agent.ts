// Starts a real node agent of a simulated machine in this process. The agent uses the real clock, reaches the control
// plane without sockets, and fetches images over the network.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../cli/internal/run.ts";
import { type Environment, processEnvironment } from "../../cli/internal/environment.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import type { SimulatedVm } from "../../nodeagent/simulated-vms.ts";
import { ADDRESS, type TestControlPlane } from "../support/control-plane.ts";
import type { JobNode } from "./jobs.ts";

/**
 * The agent's endpoint, a loopback address, so that the agent may fetch images from this machine. Nothing listens on
 * this port: the test control plane answers the agent's requests directly.
 */
const ENDPOINT = "http://127.0.0.1:9";

export type Call = { readonly method: string; readonly path: string; readonly answer: Response };

export type RunningAgent = {
  readonly ended: Promise<number>;
  said(): string;
  /** Stops the agent in the same way as SIGTERM. */
  stop(): Promise<number>;
};

export type Machine = {
  readonly state_dir: string;
  /**
   * Starts the agent. Calls `onAnswer` with each answer before the agent gets it. If `onAnswer` throws, the answer is
   * lost.
   */
  start(onAnswer?: (call: Call) => Promise<void> | void): RunningAgent;
  trouble(trouble: object | null): Promise<void>;
  vms(): Promise<Readonly<Record<string, SimulatedVm>>>;
  /** Reads the agent's journal. */
  journal(): Promise<readonly { readonly job: { readonly id: string } }[]>;
};

/** Options with which an agent reports and asks often, so that tests are fast. */
const OFTEN = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];

/**
 * Creates the state directory of an approved node, with the node's key. `pace` has the options for the agent's periods.
 */
export async function simulatedMachine(
  t: TestControlPlane,
  node: JobNode,
  folder: string,
  pace: readonly string[] = OFTEN,
): Promise<Machine> {
  const state_dir = join(folder, node.server_uuid);
  await mkdir(state_dir, { recursive: true });
  const credentials = { server_uuid: node.server_uuid, api_key: node.api_key };
  await writeFile(join(state_dir, "credentials.json"), JSON.stringify(credentials), { mode: 0o600 });
  const read = async (name: string) => JSON.parse(await readFile(join(state_dir, name), "utf8").catch(() => "null"));

  function start(onAnswer: (call: Call) => Promise<void> | void = () => {}): RunningAgent {
    const stop = new AbortController();
    const written: string[] = [];
    const plain = { isTTY: false, columns: 100, isClosed: false };
    const sink = { ...plain, write: (text: string) => void written.push(text), writeBytes: () => {} };
    const environment: Environment = {
      ...processEnvironment(stop.signal),
      env: {},
      stdout: sink,
      stderr: sink,
      newId: randomUUID,
      fetch: async (url, init) => {
        if (!url.startsWith(ENDPOINT)) return await fetch(url, init);
        const answer = await t.plane.fetch(new Request(url, init), { remoteAddress: ADDRESS });
        await onAnswer({ method: init.method ?? "GET", path: new URL(url).pathname, answer: answer.clone() });
        return answer;
      },
    };
    const place = ["--endpoint", ENDPOINT, "--state-dir", state_dir, "--server-uuid", node.server_uuid];
    const ended = runCommand(buildAgent(), ["run", ...place, ...pace], environment);
    return {
      ended,
      said: () => written.join(""),
      stop: async () => {
        stop.abort();
        return await ended;
      },
    };
  }

  return {
    state_dir,
    start,
    trouble: async (trouble) => {
      const path = join(state_dir, "trouble.json");
      await (trouble === null ? rm(path, { force: true }) : writeFile(path, JSON.stringify(trouble)));
    },
    vms: async () => (await read("simulated-machine.json"))?.vms ?? {},
    journal: async () => await read("jobs.json") ?? [],
  };
}
