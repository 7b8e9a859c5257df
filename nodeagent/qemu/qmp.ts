// Implements a client of the QEMU Machine Protocol over a Unix socket. Each command has an id and a time limit. A
// monitor serves one client at a time. QEMU accepts a second connection but sends no greeting on it, so the client also
// limits the time for the greeting.
import { connect, type Socket } from "node:net";
import { type CommandName, eventOf, type QmpCommands, type QmpEvent } from "./qmp-messages.ts";

/** A command failed. `kind` is QEMU's class of the error, or why there is no answer. */
export class QmpError extends Error {
  constructor(readonly kind: string, command: string, description: string) {
    super(`${command}: ${description}`);
  }
}

export type Qmp = {
  /** Sends a command and returns its answer. Throws a QmpError if it fails, takes too long or the monitor closes. */
  execute<C extends CommandName>(
    command: C,
    given?: QmpCommands[C]["arguments"],
    limit_ms?: number,
  ): Promise<QmpCommands[C]["answer"]>;
  /** Calls the listener with each further event. Returns a function that ends the subscription. */
  subscribe(listener: (event: QmpEvent) => void): () => void;
  /** Resolves when the connection has ended, because QEMU ended or `close` was called. */
  readonly closed: Promise<void>;
  close(): void;
};

/** Time limits of a command and of the greeting. A busy QEMU answers late, a hung one never. */
const COMMAND_LIMIT_MS = 30_000;
const GREETING_LIMIT_MS = 5_000;
/** Pause between tries to connect to a QEMU that is starting. */
const RETRY_MS = 25;
/** The longest line that the agent accepts: a broken QEMU must not fill the agent's memory. */
const LINE_CHARS_MAX = 4 * 2 ** 20;

type Waiting = {
  readonly command: string;
  readonly done: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
};

/** Connects to a monitor. Retries until `limit_ms` has passed or `isGone` returns true; then throws the last error. */
export async function connectQmp(
  path: string,
  { limit_ms, isGone = () => false }: { readonly limit_ms: number; readonly isGone?: () => boolean | Promise<boolean> },
): Promise<Qmp> {
  const end_ms = performance.now() + limit_ms;
  for (;;) {
    try {
      return await openQmp(path, Math.min(GREETING_LIMIT_MS, limit_ms));
    } catch (error) {
      if (performance.now() + RETRY_MS > end_ms || await isGone()) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Connects once and negotiates. Throws a QmpError if no greeting arrives in time, or the socket's error. */
export async function openQmp(path: string, greeting_limit_ms = GREETING_LIMIT_MS): Promise<Qmp> {
  const socket = await openSocket(path);
  const monitor = serve(socket);
  try {
    await within(greeting_limit_ms, monitor.greeted, "greeting");
    await monitor.qmp.execute("qmp_capabilities", {}, greeting_limit_ms);
    return monitor.qmp;
  } catch (error) {
    monitor.qmp.close();
    throw error;
  }
}

/** Returns false if QEMU did not answer the command. Throws the error of a command that QEMU refused. */
export async function isAnswered(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (error instanceof QmpError && (error.kind === "Timeout" || error.kind === "Closed")) return false;
    throw error;
  }
}

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    // A connected monitor does not keep the agent running.
    socket.unref();
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

function serve(socket: Socket): { readonly qmp: Qmp; readonly greeted: Promise<void> } {
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<(event: QmpEvent) => void>();
  let last_id = 0;
  let greet = () => {};
  let refuse = (_error: Error) => {};
  const greeted = new Promise<void>((resolve, reject) => {
    greet = resolve;
    refuse = reject;
  });
  greeted.catch(() => {}); // The connection may close while nothing waits for the greeting.
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      refuse(new QmpError("Closed", "greeting", "the monitor closed"));
      for (const { command, fail } of waiting.values()) fail(new QmpError("Closed", command, "the monitor closed"));
      waiting.clear();
      resolve();
    });
  });
  socket.on("error", () => {}); // The event "close" follows.

  function take(line: string): void {
    const message = parse(line);
    if (message === null) return void socket.destroy();
    if ("QMP" in message) return greet();
    if ("event" in message) {
      const event = eventOf(message.event, asRecord(message.data));
      if (event !== null) { for (const listener of [...listeners]) listener(event); }
      return;
    }
    const id = Number(message.id);
    const found = waiting.get(id);
    waiting.delete(id);
    if (found === undefined) return;
    if (!("error" in message)) return found.done(message.return);
    const { class: kind, desc } = asRecord(message.error);
    found.fail(new QmpError(String(kind), found.command, String(desc)));
  }

  readLines(socket, take);
  const qmp: Qmp = {
    closed,
    execute: async (command, given, limit_ms = COMMAND_LIMIT_MS) => {
      if (socket.destroyed) throw new QmpError("Closed", command, "the monitor closed");
      const id = ++last_id;
      const answer = new Promise<unknown>((done, fail) => waiting.set(id, { command, done, fail }));
      socket.write(`${JSON.stringify({ execute: command, ...given && { arguments: given }, id })}\n`);
      // The type is not checked: the agent trusts QEMU, and reads only the fields that it needs.
      return await within(limit_ms, answer, command).finally(() => waiting.delete(id)) as never;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => void socket.destroy(),
  };
  return { qmp, greeted };
}

function readLines(socket: Socket, take: (line: string) => void): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") take(line);
    if (text.length > LINE_CHARS_MAX) socket.destroy();
  });
}

async function within<T>(limit_ms: number, answer: Promise<T>, command: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new QmpError("Timeout", command, `no answer in ${limit_ms} ms`)), limit_ms);
  });
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function parse(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null ? message as Readonly<Record<string, unknown>> : null;
  } catch {
    return null;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : {};
}
