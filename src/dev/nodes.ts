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

/**
 * Runs the agent until standard input ends. The input ends when the server closes it, and also when the server is
 * killed. So no agent outlives a killed server. If an agent outlived its server, the next server would start a second
 * agent for the same node.
 */
const UNTIL_INPUT_ENDS = '"$@" & agent=$!; cat > /dev/null; kill "$agent"; wait "$agent"';

/** The block of the simulated underlay, which is for documentation (RFC 5737). `network trace` needs the addresses. */
const UNDERLAY_PREFIX = "192.0.2";

/**
 * The nodes receive migrations at this address. They cannot listen at their addresses of the simulated underlay,
 * because no interface of this machine has these addresses.
 */
const MIGRATION_ADDRESS = "127.0.0.1";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Starts `count` agents. They stop when stop() is called or this process ends. */
export function startDevNodes({ count, endpoint, dataDir, quiet }: DevNodesOptions): DevNodes {
  const children = Array.from({ length: count }, (_, index) => {
    const name = `lab-node-${index + 1}`;
    const argv = [
      ...["run", "--endpoint", endpoint, "--state-dir", join(dataDir, "nodes", name), "--hostname", name],
      ...["--underlay-address", `${UNDERLAY_PREFIX}.${index + 1}`, "--migration-address", MIGRATION_ADDRESS],
    ];
    const [command, args] = agentCommand(argv);
    const child = spawn("sh", ["-c", UNTIL_INPUT_ENDS, "sh", command, ...args], {
      cwd: ROOT,
      stdio: ["pipe", quiet ? "ignore" : "pipe", quiet ? "ignore" : "pipe"],
    });
    if (quiet !== true) printWithName(child, name);
    child.on("error", (error) => console.error(`berth: ${name} did not start: ${error.message}`));
    return child;
  });
  return { stop: () => children.forEach((child) => child.stdin?.end()) };
}

/** Prints each line of an agent with the agent's name, so that a reader sees which node has a claim code. */
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
