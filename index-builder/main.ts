#!/usr/bin/env -S deno run -A
import process from "node:process";
import { buildProgram } from "./program.ts";
import { processTerminal } from "./terminal.ts";

// A function, since the bytecode of an executable cannot await at the top level.
async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await buildProgram(processTerminal()).run(argv);
}

void main(process.argv.slice(2));
