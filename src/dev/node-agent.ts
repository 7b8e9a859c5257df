// Runs the real node agent for the demo, and reads its output.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./environment.ts";

export const HEARTBEAT_MS = 200;
const PATIENCE_MS = 30_000;

export type Agent = ReturnType<typeof startAgent>;

export function startAgent(endpoint: string, stateDir: string) {
  const argv = ["run", "--endpoint", endpoint, "--state-dir", stateDir, "--hostname", "demo-node"];
  const child = spawn(join(ROOT, "dist/nodeagent"), [...argv, "--heartbeat-ms", String(HEARTBEAT_MS)], {
    stdio: ["ignore", "pipe", "pipe"],
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
  const claimCode = printedLine(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})/);
  const enrolled = printedLine(/(?:approved|enrolled)/i);
  claimCode.catch(() => {});
  enrolled.catch(() => {}); // Prevents unhandled rejections: the scenario waits for these promises one after the other.
  return {
    claimCode,
    enrolled,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
