// Loads and saves plans that once found a bug. first-half.test.ts, main.ts and search-histories.ts run these plans
// before any seed.
import { readdir, readFile, writeFile } from "node:fs/promises";
import type { Plan } from "./plan.ts";

export type Case = {
  /** The bug that the plan found. */
  readonly found: string;
  readonly plan: Plan;
};

const FOLDER = new URL("./corpus/", import.meta.url);

export async function readCorpus(): Promise<readonly (readonly [string, Case])[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".json")).sort();
  return await Promise.all(names.map(async (name) => [name, await readCase(new URL(name, FOLDER))] as const));
}

export async function readCase(path: string | URL): Promise<Case> {
  const read = JSON.parse(await readFile(path, "utf8"));
  if (!Array.isArray(read.plan?.commands)) throw new Error(`${path} contains no plan`);
  return read;
}

/** Saves a plan that failed. The developer who fixes the bug replaces `found` with the cause. */
export async function keepCase(plan: Plan, found: string): Promise<string> {
  const path = new URL(`seed-${plan.seed}.json`, FOLDER);
  await writeFile(path, `${JSON.stringify({ found, plan }, null, 2)}\n`);
  return path.pathname;
}
