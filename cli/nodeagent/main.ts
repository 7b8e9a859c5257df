#!/usr/bin/env -S deno run -A
import process from "node:process";
import { EXIT } from "../kit/exit-code.ts";
import { runCommand } from "../kit/run.ts";
import { processWorld, watchSignals } from "../kit/world.ts";
import { buildAgent } from "./program.ts";

const watch = watchSignals(["SIGINT", "SIGTERM"]);
const code = await runCommand(buildAgent(), process.argv.slice(2), processWorld(watch.signal));
// SIGTERM is how a supervisor asks the agent to stop: that is a success.
process.exitCode = watch.caught() === "SIGTERM" && code === EXIT.interrupted ? EXIT.ok : code;
