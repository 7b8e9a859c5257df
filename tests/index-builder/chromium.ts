// Starts a browser for the tests of the images page: headless Chromium, controlled over its debugging socket on
// loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../support/optional-programs.ts";

const START_MS = 20_000;

export type Browser = {
  /** Opens a URL in a window of this size. Returns the page's console output, with errors and policy violations. */
  open(url: string, size: { width: number; height: number }): Promise<readonly string[]>;
  /** Evaluates an expression in the page and returns its value; awaits a promise. */
  evaluate<T>(expression: string): Promise<T>;
  close(): Promise<void>;
};
type Message = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
};

export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "index-chromium-"));
  const child = spawn(present("chromium"), [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    `--user-data-dir=${profile}`,
    "about:blank",
  ], { stdio: ["ignore", "ignore", "pipe"] });
  const root = await debuggingAddress(child);
  const target = await (await fetch(`http://${root}/json/new?about:blank`, { method: "PUT" })).json() as {
    webSocketDebuggerUrl: string;
  };
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("the browser's socket did not open"));
  });
  const waiting = new Map<number, { resolve(value: Record<string, unknown>): void; reject(error: Error): void }>();
  const listeners = new Set<(message: Message) => void>();
  socket.onmessage = (event) => {
    const message = JSON.parse(String(event.data)) as Message;
    const waiter = waiting.get(message.id ?? -1);
    if (waiter === undefined) { for (const listener of listeners) listener(message); }
    else if (message.error === undefined) waiter.resolve(message.result ?? {});
    else waiter.reject(new Error(message.error.message));
  };
  let last_id = 0;
  const send = (method: string, params: object = {}) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      waiting.set(++last_id, { resolve, reject });
      socket.send(JSON.stringify({ id: last_id, method, params }));
    });
  const load = async (url: string) => {
    const loaded = new Promise<void>((resolve) => {
      const listener = ({ method }: Message) => {
        if (method !== "Page.loadEventFired") return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
    });
    await send("Page.navigate", { url });
    await loaded;
  };
  const printed: string[] = [];
  listeners.add(({ method, params }) => {
    if (method === "Log.entryAdded" || method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled") {
      printed.push(JSON.stringify(params));
    }
  });
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`);
  // A page that is opened over the debugging socket is in the background. Without focus, Chromium refuses to copy.
  await send("Emulation.setFocusEmulationEnabled", { enabled: true });
  return {
    open: async (url, { width, height }) => {
      printed.length = 0;
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      // A change of only the fragment would not reload the page.
      for (const address of ["about:blank", url]) await load(address);
      return printed;
    },
    evaluate: async <T>(expression: string) => {
      const { result, exceptionDetails } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
        userGesture: true,
      });
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: T }).value;
    },
    close: async () => {
      socket.close();
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function debuggingAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error(`the browser did not start: ${text}`)), START_MS);
    child.once("error", reject);
    child.stderr!.on("data", (chunk) => {
      text += chunk;
      const match = /DevTools listening on ws:\/\/([^/]+)\//.exec(text);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match[1]!);
    });
  });
}
