// Ports for what a guide starts later. A port that the system calls free now may be a connection's own end by then, so these
// lie below the ones that systems give to connections, and every process of the tests begins somewhere else.
import { createServer } from "node:net";
import process from "node:process";

/** The lowest that a system gives to connections is 32,768 (Linux) or higher. */
const FIRST = 10_240;
const COUNT = 22_000;
const PER_PROCESS = 16;

let next = (process.pid * PER_PROCESS) % COUNT;

/** One that is free and that this process has not answered before. */
export async function guidePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((tell) => {
    probe.once("error", () => tell(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => tell(true)));
  });
}
