#!/usr/bin/env -S deno run -A
import process from "node:process";
import { processTerminal, runBooter } from "./program.ts";

// A function, since the bytecode of an executable cannot await at the top level.
async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await runBooter(argv, processTerminal());
}

void main(process.argv.slice(2));
