// Finds ports for programs that a guide starts later. Until then, the system could use a free port as the local end of
// a connection. So these ports are below the range that systems use for connections. The process id selects the first
// port, so that test processes rarely try the same ports.
import { createServer } from "node:net";
import process from "node:process";

/** The first of COUNT ports. All are below 32,768, because Linux uses higher ports for connections. */
const FIRST = 10_240;
const COUNT = 22_000;
const PER_PROCESS = 16;

let next = (process.pid * PER_PROCESS) % COUNT;

/** Returns a free port that this process has not returned before. */
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
