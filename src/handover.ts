// Reads the secrets that start.ts passes to the server in the first line of the server's standard input. So the secrets
// are in neither the arguments nor the environment of the server. start.ts keeps the input open. Therefore the end of
// the input means that start.ts has exited.
import process from "node:process";
import { createInterface } from "node:readline";
import type { Environment } from "./config.ts";
import type { FetcherAddress } from "./outbound/remote.ts";

export type Handover = {
  readonly fetcher: FetcherAddress;
  /** Values that override the environment variables of the same names. */
  readonly env: Readonly<Record<string, string>>;
  /** The names of the variables that begin with BERTH_. The server may not list them itself. */
  readonly variables: readonly string[];
  /** Whether DATABASE_URL names the embedded PostgreSQL. */
  readonly embedded: boolean;
};

/**
 * The second line, which asks the server to drain and exit. start.ts sends this line instead of a signal, because Deno
 * does not report the exit status of a child that was signalled.
 */
export const STOP_LINE = "stop";

/** The argument that makes the server read a handover. */
export const HANDOVER_FLAG = "--handover";

export type Handed = Handover & {
  /** Resolves when start.ts asks the server to stop. */
  readonly stopped: Promise<void>;
  /** Resolves when start.ts has exited. */
  readonly ended: Promise<void>;
};

/** Reads the handover. Returns null if HANDOVER_FLAG is missing, because the server then runs without start.ts. */
export async function readHandover(): Promise<Handed | null> {
  if (!process.argv.includes(HANDOVER_FLAG)) return null;
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<void>((done) => lines.once("close", () => done()));
  const first = Promise.withResolvers<string>();
  const stop = Promise.withResolvers<void>();
  // Both lines can arrive in one chunk. Then the second event follows before any promise continues, so the listener of
  // the first line must add the second listener.
  lines.once("line", (handover) => {
    lines.on("line", (next) => next === STOP_LINE && stop.resolve());
    first.resolve(handover);
  });
  const line = await Promise.race([first.promise, ended.then(() => null)]);
  if (line === null) throw new Error(`${HANDOVER_FLAG}: the first line of standard input is missing`);
  return { ...JSON.parse(line) as Handover, stopped: stop.promise, ended };
}

/**
 * Returns the environment, overridden by the handover. The server may not read the whole environment, so each property
 * of the result reads only its own variable.
 */
export function withHandover(env: Environment, handed: Handover | null): Environment {
  if (handed === null) return env;
  return new Proxy(env, {
    get: (of, name) =>
      typeof name === "string" && Object.hasOwn(handed.env, name) ? handed.env[name] : Reflect.get(of, name),
  });
}
