// Two servers on one database, each with a wall clock of its own that can be set while it runs. The laboratory's clock,
// which is the database's, is moved beside them.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Answer } from "../support/control-plane.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Call, must, request } from "../processes/client.ts";
import { until } from "./waiting.ts";

export type ClocksSite = {
  readonly servers: readonly ServerProcess[];
  urls(): readonly string[];
  /** Sets how far the wall clock of each server is ahead, and waits until each goes by it. */
  set(ahead_s: readonly [number, number]): Promise<void>;
  /** Sets it, and waits for nobody. */
  jump(index: 0 | 1, ahead_s: number): Promise<void>;
  /** Moves the database's clock forward; the time it is then. */
  advance(seconds: number): Promise<Date>;
  /** Asks one server after the other, so that each has its part in everything. */
  // deno-lint-ignore no-explicit-any -- whoever asks knows what is answered
  ask(call: Call): Promise<any>;
  /** The same, whatever the answer is. */
  answer(call: Call): Promise<Answer>;
  statusOf(call: Call): Promise<number | null>;
  close(): Promise<void>;
};

const PRELOADED = fileURLToPath(new URL("../support/programs/wrong-clock.ts", import.meta.url));
const SETTING = { limit_ms: 60_000, look_ms: 10 };
/** Between what we see of a server's clock and what it is. */
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
        if (!await until(goes, SETTING)) throw new Error("a server does not go by the clock that was set");
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

/** By the ids that it mints: the first 48 bits of a UUIDv7 are milliseconds. */
export async function aheadOf(url: string): Promise<number> {
  const { id } = await must<{ id: string }>(url, {
    method: "POST",
    path: "/v1/silos",
    body: { name: `clock-${randomUUID()}` },
  });
  return (Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) - Date.now()) / 1_000;
}
