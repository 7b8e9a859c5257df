// Runs a real node agent process on a simulated machine. Tests can set the agent's wall clock while the agent runs.
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compile } from "../../cli/compile.ts";
import type { SimulatedVm } from "../../nodeagent/simulated-vms.ts";
import { type Running, start } from "../processes/executables.ts";

export type ClockedAgent = {
  readonly server_uuid: string;
  /** Starts the agent. */
  start(): Running;
  /** Kills the agent with SIGKILL. */
  kill(): Promise<void>;
  /** Sets the agent's wall clock this many seconds ahead of the machine's clock. */
  set(ahead_s: number): Promise<void>;
  /** Delays each step of the agent's jobs by this many milliseconds from now on. */
  slow(slow_ms: number): Promise<void>;
  /** Halts the VM on the machine, as if the guest had powered off. The agent must not be running. */
  haltVm(id: string): Promise<void>;
  vm(id: string): Promise<SimulatedVm & { readonly last_modified: string }>;
};

export type ClockedAgentOptions = {
  /** The path that compileClockedAgent returned. */
  readonly file: string;
  readonly folder: string;
  readonly endpoint: string;
  readonly ahead_s: number;
};

const PROGRAM = "tests/support/programs/clocked-nodeagent.ts";
const PACE = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];
const MACHINE = "simulated-machine.json";

/** Compiles the agent with a settable wall clock. Returns the path of the executable. */
export async function compileClockedAgent(folder: string): Promise<string> {
  const file = join(folder, "clocked-nodeagent");
  await compile(PROGRAM, file);
  return file;
}

export async function clockedAgent({ file, folder, endpoint, ahead_s }: ClockedAgentOptions): Promise<ClockedAgent> {
  const server_uuid = randomUUID();
  const clock = join(folder, `${server_uuid}-ahead`);
  const state_dir = join(folder, server_uuid);
  let running: Running | undefined;
  await writeFile(clock, String(ahead_s));
  const machine = async () => JSON.parse(await readFile(join(state_dir, MACHINE), "utf8"));
  return {
    server_uuid,
    start() {
      const place = ["--endpoint", endpoint, "--state-dir", state_dir, "--server-uuid", server_uuid];
      return running = start("nodeagent", ["run", ...place, ...PACE], { file, env: { CLOCK_AHEAD_FILE: clock } });
    },
    async kill() {
      running?.signal("SIGKILL");
      await running?.ended;
      running = undefined;
    },
    async set(to_s) {
      await writeFile(clock, String(to_s));
      running?.signal("SIGUSR2");
    },
    slow: (slow_ms) => writeFile(join(state_dir, "trouble.json"), JSON.stringify({ slow_ms })),
    async haltVm(id) {
      const text = await machine();
      text.vms[id].state = "stopped";
      await writeFile(join(state_dir, MACHINE), JSON.stringify(text), { mode: 0o600 });
    },
    vm: async (id) => (await machine()).vms[id],
  };
}
