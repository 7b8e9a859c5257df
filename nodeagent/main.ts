#!/usr/bin/env -S deno run -A
import process from "node:process";
import { EXIT } from "../cli/internal/exit-code.ts";
import { runCommand } from "../cli/internal/run.ts";
import { processEnvironment, watchSignals } from "../cli/internal/environment.ts";
import { buildAgent } from "./program.ts";

const watch = watchSignals(["SIGINT", "SIGTERM"]);
const code = await runCommand(buildAgent(), process.argv.slice(2), processEnvironment(watch.signal));
// SIGTERM is a supervisor's normal stop: the agent then exits with 0.
process.exitCode = watch.caught() === "SIGTERM" && code === EXIT.interrupted ? EXIT.ok : code;
