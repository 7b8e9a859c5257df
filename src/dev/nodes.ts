// Starts simulated nodes in the dev environment. Each is a real agent process with its own state directory.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export type DevNodes = { stop(): void };

export type DevNodesOptions = {
  readonly count: number;
  readonly endpoint: string;
  readonly dataDir: string;
  /** Whether to discard the agents' output. Default: false; the output is printed. */
  readonly quiet?: boolean;
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Starts `count` agents. They stop when stop() is called or this process ends. */
export function startDevNodes({ count, endpoint, dataDir, quiet }: DevNodesOptions): DevNodes {
  const children = Array.from({ length: count }, (_, index) => {
    const name = `lab-node-${index + 1}`;
    const argv = ["run", "--endpoint", endpoint, "--state-dir", join(dataDir, "nodes", name), "--hostname", name];
    const [command, args] = agentCommand(argv);
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: ["ignore", quiet ? "ignore" : "pipe", quiet ? "ignore" : "pipe"],
    });
    if (quiet !== true) printWithName(child, name);
    child.on("error", (error) => console.error(`berth: ${name} did not start: ${error.message}`));
    return child;
  });
  return { stop: () => children.forEach((child) => child.kill("SIGTERM")) };
}

/** Prints each line of an agent with the agent's name, so that a reader sees whose claim code it is. */
function printWithName({ stdout, stderr }: ChildProcess, name: string): void {
  for (const [from, to] of [[stdout, process.stdout], [stderr, process.stderr]] as const) {
    createInterface({ input: from! }).on("line", (line) => {
      if (line !== "") to.write(`${name}: ${line}\n`);
    });
  }
}

/**
 * Returns the command that starts the agent: the compiled agent if it exists, otherwise the agent's source with this
 * Deno.
 */
function agentCommand(argv: readonly string[]): [string, string[]] {
  const compiled = join(ROOT, "dist", "nodeagent");
  if (existsSync(compiled)) return [compiled, [...argv]];
  return [process.execPath, ["run", "-A", "--quiet", join(ROOT, "nodeagent/main.ts"), ...argv]];
}
