// Records in which functions the thread of a server process spends its time. Uses V8's sampling profiler through the
// inspector.
import { createServer } from "node:net";

type Node = {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly hitCount?: number;
  readonly children?: readonly number[];
};
type Profile = { readonly nodes: readonly Node[] };

export type Recording = { stop(): Promise<readonly Share[]> };
/** A function, with its file and line if it has a file, and its share of the samples that are not idle, from 0 to 1. */
export type Share = { readonly place: string; readonly share: number };

/** The time between two samples. One sample costs about 10 µs, so the profiler uses 1 % of the thread's time. */
const SAMPLE_US = 1_000;
/** V8's names for time that no function uses. */
const IDLE: ReadonlySet<string> = new Set(["(idle)", "(root)"]);

/** Returns a free port for the inspector. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("the system assigned no port");
  return address.port;
}

/** Starts a recording of the process whose inspector listens on this port. */
export async function startRecording(port: number): Promise<Recording> {
  const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json() as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("the inspector refused the connection")));
  });
  let last_id = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const call = (method: string, params = {}) =>
    new Promise((resolve) => {
      last_id += 1;
      waiting.set(last_id, resolve);
      socket.send(JSON.stringify({ id: last_id, method, params }));
    });
  await call("Profiler.enable");
  await call("Profiler.setSamplingInterval", { interval: SAMPLE_US });
  await call("Profiler.start");
  return {
    stop: async () => {
      const { profile } = await call("Profiler.stop") as { profile: Profile };
      socket.close();
      return sharesOf(profile);
    },
  };
}

/** Returns the shares of the functions, largest first. The share of a function excludes the functions that it calls. */
function sharesOf({ nodes }: Profile): readonly Share[] {
  const hits = new Map<string, number>();
  let total = 0;
  for (const { callFrame: { functionName, url, lineNumber }, hitCount = 0 } of nodes) {
    if (hitCount === 0 || IDLE.has(functionName)) continue;
    const file = url.replace(/^.*\/(?=(?:src|actors|node_modules)\/)/, "").replace(/^.*node_modules\//, "");
    const place = file === "" ? functionName : `${functionName || "(anonymous)"} ${file}:${lineNumber + 1}`;
    hits.set(place, (hits.get(place) ?? 0) + hitCount);
    total += hitCount;
  }
  return [...hits].map(([place, count]) => ({ place, share: count / total })).toSorted((a, b) => b.share - a.share);
}
