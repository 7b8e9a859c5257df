#!/usr/bin/env -S deno run -A
import process from "node:process";
import { processTerminal, runBooter } from "./program.ts";

// In a function, because the bytecode of a compiled executable does not support top-level await.
async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await runBooter(argv, processTerminal());
}

void main(process.argv.slice(2));
