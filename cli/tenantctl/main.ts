#!/usr/bin/env -S deno run -A
import { start } from "../start.ts";
import { FRONT } from "./front.ts";

void start({ front: FRONT, run: async (words, world) => (await import("./program.ts")).runTenantctl(words, world) });
