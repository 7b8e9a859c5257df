// The story "kills" kills each process of the site in turn, and then checks that the rack still serves its nodes and
// operators. The story itself starts a killed process again, because the rack has no systemd.
import { checkOpsctl, operate } from "../command-line.ts";
import { serveBooter } from "../booter.ts";
import { opsctl, processName, ready, servePostgres, serveProxy, startProcess } from "../control-plane.ts";
import { API_URL, MACHINES, PORTS } from "../plan.ts";
import { kill, sleep, until } from "../processes.ts";
import { check, say } from "../report.ts";
import { usable } from "./nodes.ts";

/** Longer than the time between two heartbeats of a node. */
const AWAY_MS = 15_000;
const RETURN_LIMIT_MS = 300_000;

export async function kills(): Promise<void> {
  await processes();
  await proxy();
  await database();
  await booter();
  for (const machine of MACHINES) await usable(machine, RETURN_LIMIT_MS);
  check("both nodes are usable after all kills", true);
  await checkOpsctl("the doctor finds no fault in the database", "doctor");
  await checkOpsctl("the audit chain is intact", "audit", "verify");
}

/** Kills a server process. The other two processes must answer instead. */
async function processes(): Promise<void> {
  for (const port of PORTS.processes) {
    await kill(processName(port));
    say(`killed the process at port ${port}`);
    await checkOpsctl("opsctl gets an answer from another process", "cn", "list");
    const silo = `silo-${port}`;
    await checkOpsctl("a change is accepted, too", "silo", "create", silo);
    await startProcess(port);
    await operate("silo", "delete", silo);
  }
}

async function proxy(): Promise<void> {
  await kill("nginx-control");
  const { code } = await opsctl(["cn", "list"]);
  check("without the proxy opsctl fails", code !== 0, code);
  await sleep(AWAY_MS);
  await serveProxy();
  await checkOpsctl("after its restart the proxy serves again", "cn", "list");
}

/** Kills the database. The server processes must continue to run and connect to the database again. */
async function database(): Promise<void> {
  await kill("postgres");
  const answer = await until("the servers see that the database does not answer", RETURN_LIMIT_MS, async () => {
    const { status } = await fetch(`${API_URL}/readyz`);
    return status === 200 ? null : status;
  });
  check("without the database the servers are not ready", answer >= 500, answer);
  await servePostgres();
  await ready(API_URL, "nginx-control");
  await checkOpsctl("after the restart of the database a change is accepted", "silo", "create", "after-database");
  await operate("silo", "delete", "after-database");
}

async function booter(): Promise<void> {
  await kill("booter");
  await serveBooter();
  const images = await operate("pi", "list");
  check("the killed booter serves again, with its image", /linux/i.test(images), images);
}
