// Creates a fake environment for one command: a fake control plane, virtual time for waits, a fake terminal and a new
// home folder. Requests to an image index or a vendor use the real network.
import { fetchOutbound } from "../../src/outbound/connector.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../cli/internal/environment.ts";

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};
export type FakeAnswer = { status?: number; body?: unknown; text?: string; headers?: Record<string, string> };
/** Answers a request. If this function throws an error, the command sees a network failure. */
export type Server = (asked: Asked, signal: AbortSignal) => FakeAnswer | Promise<FakeAnswer>;

export type FakeEnvironment = {
  readonly environment: Environment;
  readonly asked: Asked[];
  readonly slept_ms: number[];
  readonly home_dir: string;
  out(): string;
  err(): string;
  abort(): void;
};

export type FakeOptions = {
  readonly env?: Record<string, string>;
  readonly server?: Server;
  /**
   * The user's input. A text is the standard input and the answer to every question; an array has one answer for each
   * question.
   */
  readonly typed?: string | readonly string[];
  readonly isTTY?: boolean;
  readonly dial?: Environment["dial"];
  readonly home_dir?: string;
  /** The constant time of the wall clock. By default, the wall clock is the clock of the machine. */
  readonly wall_ms?: number;
  /** Returns the next new id. By default, the ids are 1, 2, 3 and so on in the form of a UUID. */
  readonly newId?: () => string;
};

export const ENDPOINT = "http://127.0.0.1:8080";
export const KEY = "opsk_AAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
export const LOGGED_IN = { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_API_KEY: KEY };

export function fakeEnvironment(options: FakeOptions = {}): FakeEnvironment {
  const asked: Asked[] = [];
  const slept_ms: number[] = [];
  const written = { out: "", err: "" };
  const controller = new AbortController();
  const home_dir = options.home_dir ?? mkdtempSync(join(tmpdir(), "berth-cli-"));
  const clock = virtualClock();
  const { typed = "" } = options;
  const answers = typeof typed === "string" ? null : [...typed];
  const answer = (prompt: string) => {
    written.err += `${prompt}\n`;
    return Promise.resolve(answers === null ? typed as string : answers.shift() ?? "");
  };
  const fakeSink = (to: "out" | "err") => ({
    write: (text: string) => void (written[to] += text),
    writeBytes: (bytes: Uint8Array) => void (written[to] += new TextDecoder().decode(bytes)),
    isTTY: options.isTTY === true,
    columns: 100,
    isClosed: false,
  });
  let ids = 0;
  const environment: Environment = {
    env: options.env ?? {},
    stdout: fakeSink("out"),
    stderr: fakeSink("err"),
    keyboard: () =>
      Promise.resolve({
        isTTY: options.isTTY === true,
        readAll: () => Promise.resolve(answers === null ? typed as string : answers.join("\n")),
        readSecret: answer,
        readLine: answer,
        readRaw: (onBytes, onEnd) => {
          void onBytes(new TextEncoder().encode(answers === null ? typed as string : answers.join(""))).then(onEnd);
          return () => {};
        },
      }),
    home_dir,
    signal: controller.signal,
    fetch: async (url, init) => {
      const call = askedOf(url, init);
      asked.push(call);
      const answered = await (options.server ?? refuseConnection)(call, init.signal!);
      const text = answered.text ?? (answered.body === undefined ? "" : JSON.stringify(answered.body));
      const status = answered.status ?? 200;
      return new Response(status === 204 ? null : text, { status, headers: answered.headers ?? {} });
    },
    dial: options.dial ?? (() => Promise.reject(new Error("the fake environment has no WebSockets"))),
    outbound: fetchOutbound,
    sleepMs: (duration_ms, signal) => {
      slept_ms.push(duration_ms);
      return clock.sleep(duration_ms, signal);
    },
    monotonicMs: clock.now,
    wallMs: () => options.wall_ms ?? Date.now(),
    random: () => 0.5,
    newId: options.newId ?? (() => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`),
  };
  return {
    environment,
    asked,
    slept_ms,
    home_dir,
    out: () => written.out,
    err: () => written.err,
    abort: () => controller.abort(),
  };
}

function refuseConnection(): FakeAnswer {
  throw new TypeError("fetch failed", { cause: new Error("connection refused") });
}

function askedOf(url: string, init: RequestInit): Asked {
  const { pathname, searchParams } = new URL(url);
  return {
    method: init.method!,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: init.headers as Record<string, string>,
    body: typeof init.body === "string" ? JSON.parse(init.body) : undefined,
  };
}

/**
 * Returns a virtual clock. A sleep takes no real time. In the next turn of the event loop, the clock advances to the
 * earliest end of a sleep.
 */
function virtualClock() {
  let now_ms = 0;
  const sleepers: { at_ms: number; wake(): void }[] = [];
  const wakeNext = () => {
    sleepers.sort((a, b) => a.at_ms - b.at_ms);
    const next = sleepers.shift();
    if (next === undefined) return;
    now_ms = Math.max(now_ms, next.at_ms);
    next.wake();
  };
  return {
    now: () => now_ms,
    sleep: (duration_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const wake = () => signal.aborted ? reject(signal.reason) : resolve();
        signal.addEventListener("abort", wake);
        sleepers.push({ at_ms: now_ms + duration_ms, wake });
        setTimeout(wakeNext, 0);
      }),
  };
}
