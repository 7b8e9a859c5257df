// Tests the control plane under `deno serve`, which loads src/main.ts as a module. Other tests start src/serve.ts as a
// program.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openClient } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { must, request } from "./client.ts";
import { registration } from "./load.ts";

/** A generous limit for slow machines. */
const PATIENCE_MS = 30_000;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});

afterAll(() => database?.drop());

type Hosted = { readonly url: string; said(): string; terminate(): Promise<number | NodeJS.Signals> };

async function denoServe(env: Readonly<Record<string, string>>): Promise<Hosted> {
  const { PATH = "", HOME = "", DENO_DIR = "" } = process.env;
  const argv = ["serve", "-A", "--host", "127.0.0.1", "--port", "0", "src/main.ts"];
  const child = spawn(process.execPath, argv, {
    cwd: ROOT,
    env: { PATH, HOME, ...(DENO_DIR === "" ? {} : { DENO_DIR }), NO_COLOR: "1", BERTH_ROOT_KEY: ROOT_KEY, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ended = new Promise<number | NodeJS.Signals>((done) => {
    child.once("close", (code, signal) => done(signal ?? code ?? 0));
  });
  const url = await new Promise<string>((found, fail) => {
    const listen = (text: string) => {
      said += text;
      const match = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said);
      if (match !== null) found(match[1]!);
    };
    child.stdout.setEncoding("utf8").on("data", listen);
    child.stderr.setEncoding("utf8").on("data", listen);
    void ended.then((how) => fail(new Error(`deno serve ended with ${how}:\n${said}`)));
  });
  return {
    url,
    said: () => said,
    async terminate() {
      process.kill(child.pid!, "SIGTERM");
      return await ended;
    },
  };
}

async function connections(): Promise<number> {
  const client = await openClient({ url: database.url, applicationName: "checks" });
  const { rowCount } = await client.query(
    "select from pg_stat_activity where application_name = 'berth' and datname = current_database()",
  );
  await client.end();
  return rowCount ?? 0;
}

test(
  "deno serve src/main.ts replies to reads and writes, and on SIGTERM ends without leaving a database connection open",
  async () => {
    const hosted = await denoServe({ DATABASE_URL: database.url });
    expect(await must(hosted.url, { method: "GET", path: "/v1/health", key: "" })).toMatchObject({ status: "ok" });
    const { path, body } = registration(crypto.randomUUID());
    await must(hosted.url, { method: "POST", path, body, key: "" });
    const { items } = await must<{ items: unknown[] }>(hosted.url, { method: "GET", path: "/v1/system/cns" });
    expect(items).toHaveLength(1);
    expect(await connections()).toBeGreaterThan(0);
    // deno serve waits for open connections before it ends.
    const how = await hosted.terminate();
    expect([0, 143, "SIGTERM"], hosted.said()).toContain(how);
    await expect.poll(connections, { timeout: PATIENCE_MS }).toBe(0);
  },
  90_000,
);

test(
  "while the control plane cannot start, requests get a 503 in JSON, and only the log contains the reason",
  async () => {
    const hosted = await denoServe({});
    for (const _ of [1, 2]) {
      const { status, body } = await request(hosted.url, { method: "GET", path: "/v1/health", key: "" });
      expect(status).toBe(503);
      expect(body).toEqual({ message: "Service Unavailable", request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    }
    await expect.poll(hosted.said, { timeout: PATIENCE_MS }).toContain("DATABASE_URL must be set");
    await hosted.terminate();
  },
  90_000,
);
