#!/usr/bin/env -S deno run -A
import process from "node:process";
import { processEnvironment, watchSignals } from "../cli/internal/environment.ts";
import { runBooter } from "./program.ts";

// This code is in a function, because the bytecode of a compiled executable does not support top-level await.
async function main(argv: readonly string[]): Promise<void> {
  const { signal } = watchSignals(["SIGINT", "SIGTERM"]);
  process.exitCode = await runBooter(argv, processEnvironment(signal));
}

void main(process.argv.slice(2));
