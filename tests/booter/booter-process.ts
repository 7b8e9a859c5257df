// Starts the booter as a process, so that a test can kill it. Serves the control plane of the test to the booter on a
// socket.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { TestControlPlane } from "../support/control-plane.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export type BooterProcess = {
  readonly pid: number;
  readonly ports: { readonly dhcp: number; readonly http: number; readonly bus: number; readonly metrics: number };
  /** Waits for a line of the log that matches, and returns the first such line. */
  line(pattern: RegExp): Promise<string>;
  text(): string;
  /** Kills the process with SIGKILL and waits for its end. */
  kill(): Promise<void>;
};

export type BooterProcessOptions = {
  readonly config: string;
  /** A command that starts the program, for example [ip, netns, exec, NAME]. */
  readonly prefix?: readonly string[];
  /** The path of a compiled booter. By default, the booter runs from its source. */
  readonly executable?: string;
};

const FROM_SOURCE = [process.execPath, "run", "-A", "--quiet", "booter/main.ts"];

export async function startBooter({ config, prefix = [], executable }: BooterProcessOptions): Promise<BooterProcess> {
  const [name = "", ...argv] = [
    ...prefix,
    ...(executable === undefined ? FROM_SOURCE : [executable]),
    "serve",
    "--config",
    config,
  ];
  const child = spawn(name, argv, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  let over = false;
  let waiting: (() => void)[] = [];
  const changed = () => {
    const all = waiting;
    waiting = [];
    for (const each of all) each();
  };
  child.stderr.on("data", (part) => {
    text += part;
    changed();
  });
  const ended = new Promise<void>((resolve) => {
    const finish = () => {
      over = true;
      changed();
      resolve();
    };
    child.once("error", finish);
    child.once("close", finish);
  });
  async function line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = text.split("\n").slice(0, -1).find((each) => pattern.test(each));
      if (found !== undefined) return found;
      if (over) throw new Error(`the booter ended before ${pattern}:\n${text}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  const started = await line(/ booter\.started /);
  const port = (key: string) => Number(new RegExp(` ${key}=(\\d+)`).exec(started)?.[1] ?? 0);
  return {
    pid: child.pid ?? 0,
    ports: { dhcp: port("dhcp"), http: port("http"), bus: port("bus"), metrics: port("metrics") },
    line,
    text: () => text,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * A function that is called before each API call runs, and again before the answer is sent. The API call waits for the
 * returned promise.
 */
export type Watch = (call: string, moment: "asked" | "answered") => Promise<void> | void;

export type ApiSocket = { readonly url: string; close(): Promise<void> };

/** Serves a control plane on an IP address of this machine. */
export async function serveControlPlane(
  { plane }: Pick<TestControlPlane, "plane">,
  address: string,
  watch: Watch = () => {},
): Promise<ApiSocket> {
  const server = createServer((req, res) => {
    const parts: Uint8Array[] = [];
    req.on("data", (part: Uint8Array) => parts.push(part));
    req.on("end", () => {
      const { method = "GET", url = "/" } = req;
      const headers = new Headers();
      for (const name of ["authorization", "content-type", "idempotency-key"]) {
        const value = req.headers[name];
        if (typeof value === "string") headers.set(name, value);
      }
      const body = method === "GET" || method === "HEAD" ? undefined : Buffer.concat(parts);
      const asked = new Request(`http://berth.test${url}`, { method, headers, body });
      const answered = async () => {
        await watch(`${method} ${url}`, "asked");
        const answer = await plane.fetch(asked, { remoteAddress: "192.0.2.77" });
        const bytes = new Uint8Array(await answer.arrayBuffer());
        await watch(`${method} ${url}`, "answered");
        res.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
        res.end(bytes);
      };
      void answered().catch(() => res.destroy());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, resolve);
  });
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
