#!/usr/bin/env -S deno run -A
import { start } from "../start.ts";
import { FRONT } from "./front.ts";

void start({
  front: FRONT,
  run: async (argv, environment) => (await import("./program.ts")).runOpsctl(argv, environment),
});
