// Opens two servers on one database, each with its own wall clock, which tests can set while the server runs. Tests can
// also move the database's clock.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DoctorReport } from "../../src/contract/doctor.ts";
import type { Answer } from "../support/control-plane.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Call, must, request } from "../processes/client.ts";
import { until } from "./waiting.ts";

export type ClocksSite = {
  readonly servers: readonly ServerProcess[];
  urls(): readonly string[];
  /** Sets the offset of each server's wall clock in seconds, and waits until the servers use it. */
  set(ahead_s: readonly [number, number]): Promise<void>;
  /** Sets the offset of one server's clock without waiting. */
  jump(index: 0 | 1, ahead_s: number): Promise<void>;
  /** Moves the database's clock forward. Returns its new time. */
  advance(seconds: number): Promise<Date>;
  /** Calls the servers in turn, so that each handles a part of the calls. Throws if the status is not 2xx. */
  // deno-lint-ignore no-explicit-any -- the caller knows the type of the answer
  ask(call: Call): Promise<any>;
  /** Calls the servers in turn, and returns the answer whatever its status. */
  answer(call: Call): Promise<Answer>;
  statusOf(call: Call): Promise<number | null>;
  close(): Promise<void>;
};

const PRELOADED = fileURLToPath(new URL("../support/programs/wrong-clock.ts", import.meta.url));
const SETTING = { limit_ms: 60_000, look_ms: 10 };
/** The maximum error when a server's clock is measured, in seconds. */
const TOLERANCE_S = 300;

export async function openClocksSite(database_url: string): Promise<ClocksSite> {
  const folder = await temporaryFolder("clocks");
  const files = [0, 1].map((index) => join(folder.path, `ahead-${index}`));
  const servers: ServerProcess[] = [];
  for (const file of files) {
    await writeFile(file, "0");
    servers.push(
      await startServer({
        env: { DATABASE_URL: database_url, BERTH_LAB: "1", CLOCK_AHEAD_FILE: file },
        flags: ["-A", "--preload", PRELOADED],
      }),
    );
  }
  let turn = 0;
  const next = () => servers[turn++ % servers.length]!.url;

  async function jump(index: 0 | 1, ahead_s: number): Promise<void> {
    await writeFile(files[index]!, String(ahead_s));
    servers[index]!.signal("SIGUSR2");
  }

  return {
    servers,
    jump,
    urls: () => servers.map(({ url }) => url),
    async set(ahead_s) {
      for (const index of [0, 1] as const) {
        await jump(index, ahead_s[index]);
        const goes = async () => Math.abs(await aheadOf(servers[index]!.url) - ahead_s[index]) < TOLERANCE_S;
        if (!await until(goes, SETTING)) throw new Error("a server does not use the clock that was set");
      }
    },
    advance: async (seconds) => {
      const { now } = await must<{ now: string }>(next(), { method: "POST", path: "/lab/clock", body: { seconds } });
      return new Date(now);
    },
    ask: (call) => must(next(), call),
    async answer(call) {
      const { status, body } = await request(next(), call);
      return { status: status ?? 0, body, headers: new Headers(), text: JSON.stringify(body) };
    },
    statusOf: async (call) => (await request(next(), call)).status,
    async close() {
      await Promise.all(servers.map((server) => server.kill()));
      await folder.remove();
    },
  };
}

/** Returns the offset of a server's clock from the database's clock in seconds, as the server's doctor measures it. */
async function aheadOf(url: string): Promise<number> {
  const { checks } = await must<DoctorReport>(url, { method: "GET", path: "/v1/system/doctor" });
  const { facts, found } = checks.find(({ id }) => id === "clocks")!;
  const [, ms, way] = /^the database is (\d+) ms (ahead|behind)$/.exec([...facts, ...found].join())!;
  return Number(ms) / (way === "behind" ? 1_000 : -1_000);
}
