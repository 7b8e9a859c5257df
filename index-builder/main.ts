#!/usr/bin/env -S deno run -A
import process from "node:process";
import { buildProgram } from "./program.ts";
import { processTerminal } from "./terminal.ts";

// In a function, because the bytecode of a compiled executable does not support top-level await.
async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await buildProgram(processTerminal()).run(argv);
}

void main(process.argv.slice(2));
