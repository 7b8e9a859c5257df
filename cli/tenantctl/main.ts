#!/usr/bin/env -S deno run -A
import process from "node:process";
import { EXIT } from "../kit/exit-code.ts";
import { processWorld, watchSignals } from "../kit/world.ts";
import { runTenantctl } from "./program.ts";

// A function, since the bytecode of an executable cannot await at the top level.
async function main(words: readonly string[]): Promise<void> {
  const watch = watchSignals(["SIGINT"]);
  const code = await runTenantctl(words, processWorld(watch.signal));
  // Never process.exit: it would cut what is still on its way out (ecosystem, trap 5).
  process.exitCode = watch.caught() === null ? code : EXIT.interrupted;
}

void main(process.argv.slice(2));
