// Simulates many histories, or replays one:
// deno run -A tests/simulator/main.ts [--histories 100000] [--seed N] [--replay FILE]
import process from "node:process";
import { parseArgs } from "node:util";
import { keepCase, readCase, readCorpus } from "./corpus.ts";
import { silent } from "./counters.ts";
import { run } from "./run.ts";
import { explain, trial, trialText } from "./trial.ts";

const { values } = parseArgs({
  options: {
    histories: { type: "string" },
    seed: { type: "string" },
    replay: { type: "string" },
  },
});

async function replay(path: string): Promise<boolean> {
  const { plan } = await readCase(path);
  const { violations } = await run(plan);
  console.log(violations.length === 0 ? `${path}: no violation` : (await explain(plan)).text);
  return violations.length === 0;
}

async function longTrial(histories: number, first_seed: number): Promise<boolean> {
  for (const [name, { plan }] of await readCorpus()) {
    if ((await run(plan)).violations.length === 0) continue;
    console.log(`the plan ${name} of the corpus fails\n${(await explain(plan)).text}`);
    return false;
  }
  const started = performance.now();
  const result = await trial(first_seed, histories, (done) => {
    const each_ms = (performance.now() - started) / done;
    console.error(`${done} of ${histories} histories, ${each_ms.toFixed(2)} ms each`);
  });
  console.log(trialText(result));
  for (const { shrunk, text } of result.failures) {
    console.log(`saved as ${await keepCase(shrunk, text.split("\n")[0] ?? "")}`);
  }
  return result.failures.length === 0 && silent(result.counters).length === 0;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number`);
  return value;
}

const good = values.replay === undefined
  ? await longTrial(wholeNumber("histories", values.histories ?? "100000"), wholeNumber("seed", values.seed ?? "1"))
  : await replay(values.replay);
process.exit(good ? 0 : 1);
