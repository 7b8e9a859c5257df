// `task dev`: the laboratory, kept running, with three simulated nodes that wait for approval and the commands to try.
import { join } from "node:path";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { buildExecutables, newRootKey, ROOT, startLaboratory } from "./environment.ts";

const NODES = 3;
const PORT = Number(process.env["PORT"] ?? 8080);
const DATA_DIR = process.env["BERTH_DATA_DIR"] ?? join(ROOT, ".berth");

/** The same key at every start, so that a profile saved yesterday works today. */
async function rootKey(): Promise<string> {
  const path = join(DATA_DIR, "lab-root-key");
  const kept = await readFile(path, "utf8").catch(() => null);
  if (kept !== null) return kept.trim();
  const key = newRootKey();
  await mkdir(DATA_DIR, { recursive: true });
  await writeFile(path, `${key}\n`, { mode: 0o600 });
  return key;
}

await buildExecutables();
const laboratory = await startLaboratory({ dataDir: DATA_DIR, port: PORT, rootKey: await rootKey(), nodes: NODES });

console.log(`
The laboratory runs at ${laboratory.url}; its description is at ${laboratory.url}/docs
Below, each of ${NODES} simulated nodes prints its claim code until it is approved. In another terminal, from this folder:

  export OPSCTL_ENDPOINT=${laboratory.url}
  export OPSCTL_API_KEY=${laboratory.rootKey}

  dist/opsctl cn list
  dist/opsctl cn approve XXX-XXX --yes              # a code from below
  dist/opsctl cn show lab-node-1
  dist/opsctl cn label set lab-node-1 --role both
  dist/opsctl cn reservoir set lab-node-1 --percent 0.5
  dist/opsctl cn auto-approve open --duration-secs 600 --count 10
  dist/opsctl cn disable lab-node-1
  dist/opsctl operation list
  dist/opsctl audit list
  dist/opsctl audit verify
  curl -X POST ${laboratory.url}/lab/clock -H 'content-type: application/json' -d '{"seconds": 3600}'

Ctrl-C stops everything; what is in ${DATA_DIR} stays.
`);

// How the server ends is how this ends: with 0 once it has drained.
const stop = () => void laboratory.stop();
process.on("SIGINT", stop);
process.on("SIGTERM", stop);
laboratory.server.on("exit", (code) => process.exit(code ?? 1));
