// Defines functions for scenarios: print a heading, run a command, check its output. A failed check ends the demo.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { ROOT } from "./environment.ts";

/** Runs an executable, prints the command and its output, and checks that it exits with 0. */
export type Run = (...argv: string[]) => Promise<string>;

export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Returns the first UUID in a printed record or table. */
export function idOf(text: string): string {
  return UUID.exec(text)?.[0] ?? "";
}

export function say(text: string): void {
  console.log(`\n== ${text}`);
}

let checks = 0;

export function check(claim: string, holds: boolean): void {
  if (!holds) throw new Error(`the demo failed: ${claim}`);
  checks += 1;
  console.log(`  ok: ${claim}`);
}

export function checksPassed(): number {
  return checks;
}

export function executable(name: string, env: Readonly<Record<string, string>>): Run {
  return async (...argv) => {
    console.log(`\n$ ${name} ${argv.map((word) => word.includes(" ") ? `"${word}"` : word).join(" ")}`);
    const child = spawn(join(ROOT, "dist", name), argv, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface({ input: child.stderr }).on("line", (line) => console.error(`  ${line}`));
    let text = "";
    child.stdout.on("data", (chunk) => text += chunk);
    const [status] = await once(child, "close");
    // Removes API keys, so that a recording of the demo contains none.
    process.stdout.write(text.replace(/opsk_[\w-]{45}/g, "opsk_...").replace(/^/gm, "  ").trimEnd() + "\n");
    check(`${name} ${argv.slice(0, 2).join(" ")} exits 0`, status === 0);
    return text;
  };
}
