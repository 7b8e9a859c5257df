// Creates a tenant's instance on a node that runs the compiled node agent. Two servers run as `task start` starts them.
// The agent polls one server. Tests open consoles at both servers.
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { type ClientSocket, dialSocket } from "../../cli/internal/websocket.ts";
import type { ConsoleTicket, ConsoleTicketBody } from "../../src/contract/console.ts";
import { openPool } from "../../src/db/pool.ts";
import { type ConsoleControl, consoleProtocols, controlText, parseControl } from "../../src/lib/console/frames.ts";
import { createReceipts } from "../../src/lib/console/window.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, type Ended, run, type Running, start } from "./executables.ts";

/** A console that a test opened. */
export type TestConsole = {
  readonly socket: ClientSocket;
  readonly controls: ConsoleControl[];
  /** The output of the guest so far, as text. */
  text(): string;
  /** The number of bytes so far. */
  bytes(): number;
  /** Resolves with the reason when the socket has closed. */
  readonly closed: Promise<string>;
  type(text: string): void;
};

export type ConsoleFixture = Awaited<ReturnType<typeof openConsoleFixture>>;

export async function openConsoleFixture(env: Readonly<Record<string, string>> = {}) {
  await buildExecutables(["nodeagent", "tenantctl"]);
  const database = await freshDatabase();
  const folder = await temporaryFolder("consoles");
  const port = await freePort();
  const shared = { DATABASE_URL: database.url, ...env };
  const [polled, other] = await Promise.all([
    startServer({ env: shared, as_task: true }),
    startServer({
      env: { ...shared, PORT: String(port), BERTH_RELAY_URL: `http://127.0.0.1:${port}` },
      as_task: true,
    }),
  ]);
  const images = await serveImage(randomBytes(100_000));
  const callAt = (server: ServerProcess) => (method: string, path: string, options?: CallOptions) =>
    call(server.url, method, path, options);
  const g: InstanceFixture = await openInstanceFixture({ call: callAt(polled) }, {
    ...images,
    size_bytes: images.bytes.length,
  });
  let agent = startAgent();
  const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  okOf(await callAt(polled)("POST", "/v1/cn-approvals", { body: { code } }));
  await agent.says(/reports to/);
  const db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  await until(async () => (await db.query("select from cn_capacity")).rowCount === 1);
  const instance = okOf(await makeInstance(g, { name: "web1" }));

  function startAgent(): Running {
    const place = ["--endpoint", polled.url, "--state-dir", join(folder.path, "node")];
    const pace = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];
    return start("nodeagent", ["run", ...place, ...pace, "--capacity-ms", "500"]);
  }

  const path = `/v1/instances/${instance.id}`;
  const ticket = async (wanted: ConsoleTicketBody = {}, key = g.key): Promise<ConsoleTicket> =>
    okOf(await callAt(other)("POST", `${path}/console-ticket`, { key, body: wanted }));

  return {
    g,
    folder: folder.path,
    polled,
    other,
    instance,
    path,
    callAt,
    ticket,
    db,
    agent: () => agent,
    /** Opens a console at a server. */
    open: async (server: ServerProcess, wanted: ConsoleTicketBody = {}, isSlow = false) =>
      await openConsoleAt(`${server.url}${path}/console`, (await ticket(wanted)).ticket, isSlow),
    restartAgent: async () => {
      agent.signal("SIGKILL");
      await agent.ended;
      agent = startAgent();
      await agent.says(/reports to/);
    },
    tenantctl: (argv: readonly string[], typed?: string): Promise<Ended> =>
      run("tenantctl", argv, {
        env: { HOME: folder.path, TENANTCTL_ENDPOINT: other.url, TENANTCTL_API_KEY: g.key, NO_COLOR: "1" },
        ...(typed === undefined ? {} : { typed }),
      }),
    tenantctlRunning: (argv: readonly string[]): Running =>
      start("tenantctl", argv, {
        env: { HOME: folder.path, TENANTCTL_ENDPOINT: other.url, TENANTCTL_API_KEY: g.key, NO_COLOR: "1" },
      }),
    close: async () => {
      agent.signal("SIGKILL");
      await agent.ended;
      await Promise.all([polled.kill(), other.kill()]);
      await images.close();
      await db.close();
      await database.drop();
      await folder.remove();
    },
  };
}

/** Opens a console with a ticket. A slow console never confirms the bytes that it gets. */
export async function openConsoleAt(url: string, ticket: string, isSlow = false): Promise<TestConsole> {
  const signal = new AbortController().signal;
  const socket = await dialSocket(url, { protocols: consoleProtocols(ticket), headers: {}, signal });
  const controls: ConsoleControl[] = [];
  const decoder = new TextDecoder();
  const closed = Promise.withResolvers<string>();
  const used = createReceipts((bytes) => socket.send(controlText({ type: "ack", bytes })));
  let text = "";
  let bytes = 0;
  socket.listen({
    onData: (piece) => {
      bytes += piece.length;
      text += decoder.decode(piece, { stream: true });
      if (!isSlow) used(piece.length);
    },
    onText: (frame) => {
      const control = parseControl(frame);
      if (control !== null) controls.push(control);
    },
    onClose: closed.resolve,
  });
  return {
    socket,
    controls,
    text: () => text,
    bytes: () => bytes,
    closed: closed.promise,
    type: (typed) => socket.send(new TextEncoder().encode(typed)),
  };
}

export async function call(
  url: string,
  method: string,
  path: string,
  { key, body, text: sent, headers }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key ?? ROOT_KEY}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    body: sent ?? (body === undefined ? undefined : JSON.stringify(body)),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

const PATIENCE_MS = 60_000;

/** Waits until the condition is met. Throws after PATIENCE_MS. */
export async function until(isMet: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await isMet());) {
    if (Date.now() > end) throw new Error("the condition was not met in time");
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
