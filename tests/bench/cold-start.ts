// Measures the start of the server. The server runs as `task start` runs it, on a database that is already migrated.
// The first time is the time until the server is ready. The second time is the time from then until the first answer.
// Single run: `deno run -A tests/bench/cold-start.ts`, with --runs=N.
import process from "node:process";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { median } from "./report.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" } } });
const runs = Number(values.runs);

/** `cpu_ms` is the processor time of all processes of the server, from the start to the end of the stop. */
type Start = { readonly ready_ms: number; readonly answer_ms: number; readonly cpu_ms: number };

/** Starts, measures and stops the server once. */
async function measureStart(env: Readonly<Record<string, string | undefined>>): Promise<Start> {
  const started_ms = performance.now();
  const used_ms = await cpuTime_ms(process.pid) ?? NaN;
  const server = await startServer({ as_task: true, env });
  let times: { ready_ms: number; answer_ms: number };
  try {
    while (!(await fetch(`${server.url}/readyz`).then((answer) => (answer.body?.cancel(), answer.ok), () => false)));
    const ready_ms = performance.now() - started_ms;
    const answer = await fetch(`${server.url}/v1/silos`, { headers: { authorization: `Bearer ${ROOT_KEY}` } });
    if (answer.status !== 200) throw new Error(`GET /v1/silos: ${answer.status} ${await answer.text()}`);
    await answer.text();
    times = { ready_ms, answer_ms: performance.now() - started_ms - ready_ms };
  } finally {
    await server.stop();
  }
  return { ...times, cpu_ms: (await cpuTime_ms(process.pid) ?? NaN) - used_ms };
}

const folder = await temporaryFolder("cold-start");
try {
  const env = { BERTH_DATA_DIR: folder.path, DATABASE_URL: undefined };
  await measureStart(env); // Creates and migrates the database, and warms the file cache.
  const starts: Start[] = [];
  for (let run = 0; run < runs; run++) starts.push(await measureStart(env));
  const of = (key: keyof Start) => Math.round(median(starts.map((start) => start[key])) ?? NaN);
  console.log(`ready after ${of("ready_ms")} ms, first answer ${of("answer_ms")} ms later`);
  console.log(`processor time of a start, a request and a stop: ${of("cpu_ms")} ms (medians of ${runs} starts)`);
} finally {
  await folder.remove();
}
