// What the process above the server (start.ts) tells it in the first line of its standard input: secrets, which neither
// its arguments nor its environment may hold. The input stays open; its end says that the other process is gone.
import process from "node:process";
import { createInterface } from "node:readline";
import type { Environment } from "./config.ts";
import type { FetcherAddress } from "./outbound/remote.ts";

export type Handover = {
  readonly fetcher: FetcherAddress;
  /** In place of the variables of these names. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether DATABASE_URL is that of the PostgreSQL that Berth brings along. */
  readonly embedded: boolean;
};

/** The second line: drain and end. Not a signal, after which Deno does not say how a child ended. */
export const STOP_LINE = "stop";

/** The server's argument that says that a handover comes. */
export const HANDOVER_FLAG = "--handover";

export type Handed = Handover & {
  /** The other process asks the server to end. */
  readonly stopped: Promise<void>;
  /** The other process is gone. */
  readonly ended: Promise<void>;
};

/** Null without the argument: then the server does everything itself. */
export async function readHandover(): Promise<Handed | null> {
  if (!process.argv.includes(HANDOVER_FLAG)) return null;
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<void>((done) => lines.once("close", () => done()));
  const line = await Promise.race([
    new Promise<string>((first) => lines.once("line", first)),
    ended.then(() => null),
  ]);
  if (line === null) throw new Error(`${HANDOVER_FLAG}: the first line of standard input is missing`);
  const stopped = new Promise<void>((stop) => lines.on("line", (next) => next === STOP_LINE && stop()));
  return { ...JSON.parse(line) as Handover, stopped, ended };
}

/** The environment with what was handed over in front. Looks up one name at a time, as the permissions allow. */
export function withHandover(env: Environment, handed: Handover | null): Environment {
  if (handed === null) return env;
  return new Proxy(env, {
    get: (of, name) =>
      typeof name === "string" && Object.hasOwn(handed.env, name) ? handed.env[name] : Reflect.get(of, name),
  });
}
