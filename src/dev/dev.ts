// The program of `task dev`. It keeps a development environment running, with three simulated nodes that wait for
// approval, and prints commands to try.
import { join } from "node:path";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { buildExecutables, newRootKey, ROOT, startDevEnvironment } from "./environment.ts";
import { signInPath } from "./sign-in-path.ts";

const NODES = 3;
const PORT = Number(process.env["PORT"] ?? 8080);
const DATA_DIR = process.env["BERTH_DATA_DIR"] ?? join(ROOT, ".berth");

/** Returns the same root key at every start, so that a saved profile keeps working. */
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
const environment = await startDevEnvironment({
  dataDir: DATA_DIR,
  port: PORT,
  rootKey: await rootKey(),
  nodes: NODES,
});

console.log(`
The web console is at ${environment.url}/console/; this link signs you in, once:

  ${environment.url}${await signInPath(environment)}

The control plane runs at ${environment.url}; its API is described at ${environment.url}/docs
Below, each of ${NODES} simulated nodes prints its claim code until it is approved. In another terminal, in this folder:

  export OPSCTL_ENDPOINT=${environment.url}
  export OPSCTL_API_KEY=${environment.rootKey}

  dist/opsctl cn list
  dist/opsctl cn approve XXX-XXX --yes              # the code of lab-node-1, from below
  dist/opsctl cn show lab-node-1
  dist/opsctl cn doctor lab-node-1                  # whether it can run instances, and if not, why
  dist/opsctl cn label set lab-node-1 --role both
  dist/opsctl cn reservoir set lab-node-1 --percent 0.5
  dist/opsctl operation list
  dist/opsctl audit list
  dist/opsctl audit verify

  dist/opsctl silo create first && dist/opsctl project create shop --tenant first/default
  export TENANTCTL_ENDPOINT=$OPSCTL_ENDPOINT
  export TENANTCTL_API_KEY=$(dist/opsctl api-key create --tenant first/default --description "my first key")
  dist/tenantctl image upload README.md --name first --os linux --image-version 1   # any file will do: nodes are simulated
  dist/tenantctl vpc create --name main --ipv4-block 10.0.0.0/16
  dist/tenantctl subnet create --vpc main --name front --ipv4-block 10.0.1.0/24
  dist/tenantctl instance create --name web1 --image first --subnet front --cpu 1 --memory 1GiB
  dist/tenantctl instance list

To try more:

  dist/opsctl doctor                                # checks the control plane itself
  dist/opsctl cn auto-approve open --duration-secs 600 --count 10   # approves nodes that register from now on
  curl -X POST ${environment.url}/lab/clock -H 'content-type: application/json' -d '{"seconds": 3600}'   # an hour later

Ctrl-C stops everything and keeps the data in ${DATA_DIR}. To begin again, delete that folder.
`);

// This process exits with the exit code of the server, which is 0 after a drain.
const stop = () => void environment.stop();
process.on("SIGINT", stop);
process.on("SIGTERM", stop);
environment.server.on("exit", (code) => process.exit(code ?? 1));
