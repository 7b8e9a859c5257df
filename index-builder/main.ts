#!/usr/bin/env -S deno run -A
import process from "node:process";
import { processEnvironment } from "../cli/internal/environment.ts";
import { runIndexBuilder } from "./program.ts";

// This code is in a function, because the bytecode of a compiled executable does not support top-level await.
async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await runIndexBuilder(argv, processEnvironment(new AbortController().signal));
}

void main(process.argv.slice(2));
