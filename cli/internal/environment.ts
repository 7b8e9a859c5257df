// Provides the program's environment as one value, so that a test can run a whole command inside the test's process.
// Loading the runtime's stream, terminal or crypto modules takes longer than the rest of the start, so these modules
// load only when they are needed.
import { fstatSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import process from "node:process";
import type { Outbound } from "../../src/outbound/connector.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Dial } from "./websocket.ts";

export type Sink = {
  write(text: string): void;
  /** Writes bytes that need not be text. */
  writeBytes(bytes: Uint8Array): void;
  readonly isTTY: boolean;
  readonly columns: number;
  /** Whether a write found that the reader has closed the pipe. Further output is dropped. */
  readonly isClosed: boolean;
};

export type Environment = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  keyboard(): Promise<Keyboard>;
  readonly home_dir: string;
  /** Aborted by Ctrl-C, and in the node agent and the booter also by SIGTERM; in index-builder never. */
  readonly signal: AbortSignal;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Opens a WebSocket to the control plane. */
  readonly dial: Dial;
  /**
   * Fetches a URL from an untrusted source, if the URL's address is public or `outbound.reach` allows it. Follows no
   * redirect.
   */
  outbound(url: string, outbound: Outbound): Promise<Response>;
  /** Rejects when `signal` aborts. */
  sleepMs(duration_ms: number, signal: AbortSignal): Promise<void>;
  /** Returns the time of a clock that never jumps, unlike the wall clock. */
  monotonicMs(): number;
  /** Returns the milliseconds since 1970 by this machine's clock. */
  wallMs(): number;
  random(): number;
  newId(): string;
};

const PLAIN_COLUMNS = 80;
const STDOUT = 1;
const STDERR = 2;
/** Pause before another write to a full, non-blocking pipe. */
const FULL_PIPE_WAIT_MS = 2;

export function processEnvironment(signal: AbortSignal): Environment {
  return {
    env: process.env,
    stdout: sink(STDOUT),
    stderr: sink(STDERR),
    keyboard: async () => (await import("./keyboard.ts")).openKeyboard(signal),
    home_dir: homedir(),
    signal,
    fetch: (url, init) => fetch(url, init),
    dial: async (url, options) => await (await import("./websocket.ts")).dialSocket(url, options),
    outbound: async (url, given) => await (await import("../../src/outbound/connector.ts")).fetchOutbound(url, given),
    sleepMs,
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    random: Math.random,
    newId: () => crypto.randomUUID(),
  };
}

function sink(fd: number): Sink {
  let closed = false;
  const writeBytes = (bytes: Uint8Array) => {
    if (!closed) closed = !writeWhole(fd, bytes);
  };
  return {
    write: (text) => writeBytes(new TextEncoder().encode(text)),
    writeBytes,
    get isTTY() {
      return terminal(fd) !== null;
    },
    get columns() {
      // A terminal that does not know its width has 0 columns.
      return terminal(fd)?.columns || PLAIN_COLUMNS;
    },
    get isClosed() {
      return closed;
    },
  };
}

/**
 * Returns the terminal, or null if the output is not a terminal. First checks whether the output is a character device,
 * so that a pipe does not load the stream modules.
 */
function terminal(fd: number): NodeJS.WriteStream | null {
  if (!fstatSync(fd).isCharacterDevice()) return null;
  const stream = fd === STDOUT ? process.stdout : process.stderr;
  return stream.isTTY === true ? stream : null;
}

/**
 * Writes all bytes. Returns false if the reader has closed the pipe, as in `opsctl ... | head`, which is not an error.
 */
function writeWhole(fd: number, bytes: Uint8Array): boolean {
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return false;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
    }
  }
  return true;
}

function sleepMs(duration_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, duration_ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Returns whether to use colour: NO_COLOR decides first, then FORCE_COLOR, then whether the stream is a terminal whose
 * TERM is not "dumb".
 */
export function hasColour(environment: Environment, stream: Sink): boolean {
  if ((environment.env.NO_COLOR ?? "") !== "") return false;
  const forced = environment.env.FORCE_COLOR;
  if (forced !== undefined && forced !== "") return forced !== "0";
  return stream.isTTY && environment.env.TERM !== "dumb";
}

/** Turns process signals into one abort signal. `caught` returns the name of the first signal. */
export function watchSignals(names: readonly NodeJS.Signals[]): { signal: AbortSignal; caught(): string | null } {
  const controller = new AbortController();
  let caught: string | null = null;
  for (const name of names) {
    process.once(name, () => {
      caught ??= name;
      controller.abort();
    });
  }
  return { signal: controller.signal, caught: () => caught };
}
