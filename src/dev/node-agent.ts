// Runs the real node agent for the demo, and reads its output.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { killProcesses } from "../../nodeagent/qemu/processes.ts";
import { removeNetwork } from "../../nodeagent/qemu/vm-network.ts";
import { openVmStore } from "../../nodeagent/qemu/vm-store.ts";
import { ROOT } from "./environment.ts";

const END_LIMIT_MS = 10_000;
export const HEARTBEAT_MS = 200;
const PATIENCE_MS = 30_000;

export type Agent = ReturnType<typeof startAgent>;

export type AgentPlace = {
  readonly hostname: string;
  /** The arguments to put before a command, so that it runs in the node's network namespace. */
  readonly enter: readonly string[];
  /** The node's address in its network namespace. */
  readonly address?: string;
};

export function startAgent(
  endpoint: string,
  stateDir: string,
  { hostname, enter, address }: AgentPlace = { hostname: "demo-node", enter: [] },
) {
  const argv = [
    ...["run", "--endpoint", endpoint, "--state-dir", stateDir, "--hostname", hostname],
    ...address === undefined ? [] : ["--underlay-address", address, "--migration-address", address],
    // If this machine has QEMU, the VMs are real. The demo gives the agent its own folders and its own server_uuid.
    ...["--driver", "auto", "--server-uuid", crypto.randomUUID()],
    ...["--machine-dir", machineDir(stateDir), "--run-dir", `${stateDir}-run`],
  ];
  const [program = "", ...rest] = [...enter, join(ROOT, "dist/nodeagent"), ...argv];
  const child = spawn(program, [...rest, "--heartbeat-ms", String(HEARTBEAT_MS)], {
    stdio: ["ignore", "pipe", "pipe"],
    // The demo must not write the authorized keys of root on this machine.
    env: { ...process.env, HOME: stateDir },
  });
  const printed: string[] = [];
  const printedLine = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error(`the agent did not print ${pattern}:\n${printed.join("\n")}`)),
        PATIENCE_MS,
      );
      listeners.add((line) => {
        const found = pattern.exec(line);
        if (found === null) return;
        clearTimeout(limit);
        resolve(found[1] ?? line);
      });
      child.once("exit", () => {
        clearTimeout(limit);
        reject(new Error(`the agent ended:\n${printed.join("\n")}`));
      });
    });
  const listeners = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      printed.push(line);
      for (const listener of listeners) listener(line);
    });
  }
  const driver = printedLine(/driver: (.*)/);
  const claimCode = printedLine(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})/);
  const enrolled = printedLine(/(?:approved|enrolled)/i);
  // Handles each rejection here: a promise may reject while the scenario still waits for another one.
  driver.catch(() => {});
  claimCode.catch(() => {});
  enrolled.catch(() => {});
  return {
    /** The agent's driver: `qemu`, or `simulated` with the reason. */
    driver,
    claimCode,
    enrolled,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      await endMachines(machineDir(stateDir));
    },
  };
}

/**
 * Returns the folder of the VMs. It is next to the agent's directory, because the users that run the VMs cannot enter
 * the agent's directory.
 */
function machineDir(stateDir: string): string {
  return `${stateDir}-machines`;
}

/** Ends the VMs that still run after a failed scenario. VMs continue to run when their agent ends. */
async function endMachines(machine_dir: string): Promise<void> {
  const store = await openVmStore({ machine_dir, run_dir: machine_dir }, () => {}).catch(() => null);
  for (const vm of store?.all() ?? []) {
    await killProcesses(vm, END_LIMIT_MS);
    await removeNetwork(vm.id);
  }
}
