// Tests the server as a process: several starts at once, draining, kills, and the state after a kill.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, expect, test } from "vitest";
import type { RegistrationView } from "../../src/contract/agent.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { isAlive } from "../../src/db/data-folder.ts";
import { openPool } from "../../src/db/pool.ts";
import { type Handover, HANDOVER_FLAG, STOP_LINE } from "../../src/handover.ts";
import { emptyDatabase, freshDatabase } from "../support/database.ts";
import { type ServerOptions, type ServerProcess, startServer } from "../support/server-process.ts";
import { databaseFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { type Answer, must, request } from "./client.ts";
import { historyViolations } from "./history.ts";
import { registration, startLoad } from "./load.ts";

const ROUND_TRIPS = 20;
const PATIENCE_MS = 60_000;

const servers: ServerProcess[] = [];
const leftovers: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
  for (const remove of leftovers.splice(0)) await remove();
});

async function serverOf(options: ServerOptions): Promise<ServerProcess> {
  const server = await startServer(options);
  servers.push(server);
  return server;
}

async function databaseUrl(making: typeof freshDatabase): Promise<string> {
  const database = await making();
  leftovers.push(database.drop);
  return database.url;
}

async function folder(): Promise<TemporaryFolder> {
  const made = await databaseFolder("server");
  leftovers.push(made.remove);
  return made;
}

async function register(server: ServerProcess): Promise<RegistrationView> {
  const { path, body } = registration(crypto.randomUUID());
  return await must<RegistrationView>(server.url, { method: "POST", path, body, key: "" });
}

/** Sends a long poll that waits until the node is approved. */
function holdPoll(server: ServerProcess, { poll_token }: RegistrationView): Promise<Answer> {
  return request(server.url, { method: "GET", path: `/v1/agent/register/status?poll_token=${poll_token}`, key: "" });
}

test("on SIGTERM the server replies to all long polls and exits with 0; a second SIGTERM has no effect", async () => {
  const server = await serverOf({ env: { DATABASE_URL: await databaseUrl(freshDatabase) } });
  const node = await register(server);
  const held = Array.from({ length: 5 }, () => holdPoll(server, node));
  // After these round trips the server has certainly received the five requests, even on a slow machine.
  for (let trip = 0; trip < ROUND_TRIPS; trip++) await must(server.url, { method: "GET", path: "/v1/auth/whoami" });
  server.signal("SIGTERM");
  server.signal("SIGTERM");
  await new Promise((wake) => setTimeout(wake, 20));
  server.signal("SIGTERM");
  // The server cuts connections long before a long poll's time limit, so a reply means that the server ended the poll.
  for (const answer of await Promise.all(held)) {
    expect(answer).toMatchObject({ status: 200, body: { state: "pending", api_key: null } });
  }
  expect(await server.ended, server.log()).toBe(0);
}, 90_000);

test(
  "a server that gets a stop request before it has read its handover still starts, drains and exits with 0",
  async () => {
    const handover: Handover = {
      fetcher: { port: 1, secret: "unused" },
      env: { DATABASE_URL: await databaseUrl(freshDatabase), HOST: "127.0.0.1", PORT: "0" },
      variables: [],
      embedded: false,
    };
    const server = spawn(process.execPath, ["run", "-A", "src/serve.ts", HANDOVER_FLAG], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    const ended = once(server, "exit");
    leftovers.push(async () => {
      server.kill("SIGKILL");
      await ended;
    });
    // Sends both lines in one write, so that the server reads them at once. The input stays open, as in start.ts.
    server.stdin.write(`${JSON.stringify(handover)}\n${STOP_LINE}\n`);
    expect(await ended).toEqual([0, null]);
  },
  PATIENCE_MS,
);

test("on SIGTERM under load no acknowledged change is lost, and the server exits with 0", async () => {
  const url = await databaseUrl(freshDatabase);
  const server = await serverOf({ env: { DATABASE_URL: url } });
  const load = startLoad({ urls: () => [server.url] });
  await expect.poll(() => load.acknowledged(), { timeout: PATIENCE_MS }).toBeGreaterThan(50);
  expect(await server.stop().finally(load.stop), server.log()).toBe(0);
  const db = openPool({ url });
  leftovers.unshift(db.close);
  expect(await historyViolations(db, load.operations)).toEqual([]);
}, 120_000);

test("three servers that start together on an empty database share the database, and only one of them prints the root key, once", async () => {
  const env = { DATABASE_URL: await databaseUrl(emptyDatabase), BERTH_ROOT_KEY: undefined };
  const three = await Promise.all([1, 2, 3].map(() => serverOf({ env })));
  const shown = three.flatMap((server) => server.log().match(/opsk_\S{12}_\S{32}/g) ?? []);
  expect(shown).toHaveLength(1);
  const [key] = shown;
  for (const server of three) {
    expect(await must(server.url, { method: "GET", path: "/v1/auth/whoami", key: key! })).toMatchObject({
      is_root: true,
    });
  }
});

test("three servers that start together with the same BERTH_ROOT_KEY accept that key", async () => {
  const env = { DATABASE_URL: await databaseUrl(emptyDatabase) };
  const three = await Promise.all([1, 2, 3].map(() => serverOf({ env })));
  for (const server of three) {
    expect(await must(server.url, { method: "GET", path: "/v1/auth/whoami" })).toMatchObject({ username: "root" });
  }
});

test("if the root operator's keys have expired, BERTH_ROOT_KEY gives a key that works, and a start prints no key", async () => {
  const url = await databaseUrl(emptyDatabase);
  const env = { DATABASE_URL: url, BERTH_ROOT_KEY: undefined };
  const first = await serverOf({ env });
  const [key = ""] = /opsk_\S{12}_\S{32}/.exec(first.log()) ?? [];
  await must(first.url, { method: "GET", path: "/v1/auth/whoami", key });
  expect(await first.stop()).toBe(0);
  const db = openPool({ url });
  await db.query("update api_key set expires_at = now()").finally(db.close);
  const second = await serverOf({ env });
  expect((await request(second.url, { method: "GET", path: "/v1/auth/whoami", key })).status).toBe(401);
  // The log must not contain the key: people other than the root operator read it.
  expect(second.log()).not.toContain("opsk_");
  expect(await second.stop()).toBe(0);
  const third = await serverOf({ env: { DATABASE_URL: url } });
  expect(await must(third.url, { method: "GET", path: "/v1/auth/whoami" })).toMatchObject({ is_root: true });
});

test("with a malformed root key the server does not start, and its error describes the form", async () => {
  const DATABASE_URL = await databaseUrl(freshDatabase);
  await expect(serverOf({ env: { DATABASE_URL, BERTH_ROOT_KEY: "secret" } })).rejects.toThrow(
    /ended with 1 .*\n.*BERTH_ROOT_KEY must have the form opsk_/,
  );
});

/** Returns the pid of the embedded PostgreSQL. */
async function postgresPid(dataDir: string): Promise<number> {
  // PostgreSQL's files are elsewhere if its user cannot enter the folder.
  const place = await readFile(join(dataDir, "place"), "utf8").catch(() => dataDir);
  return Number((await readFile(join(place, "pg/postmaster.pid"), "utf8")).split("\n")[0]);
}

async function nodesAt(server: ServerProcess): Promise<string[]> {
  const { items } = await must<{ items: CnView[] }>(server.url, { method: "GET", path: "/v1/system/cns" });
  return items.map((node) => node.server_uuid);
}

test(
  "with embedded PostgreSQL, both kill -9 and SIGTERM of the server end postgres, too, and each start finds the data",
  async () => {
    const { path } = await folder();
    const env = { BERTH_DATA_DIR: path, DATABASE_URL: undefined };
    const first = await serverOf({ env });
    const { server_uuid } = await register(first);
    await expect(serverOf({ env }), "two servers on one data folder").rejects.toThrow(/ended with 1/);
    const orphan = await postgresPid(path);
    expect(isAlive(orphan)).toBe(true);
    await first.kill();
    await expect.poll(() => isAlive(orphan), { timeout: PATIENCE_MS }).toBe(false);

    const second = await serverOf({ env });
    expect(await nodesAt(second)).toEqual([server_uuid]);
    // A watcher process stops the PostgreSQL of a killed server. The third server starts earlier than that, so it stops
    // this PostgreSQL itself.
    await second.kill();
    const third = await serverOf({ env });
    expect(await nodesAt(third)).toEqual([server_uuid]);
    const postgres = await postgresPid(path);
    expect(await third.stop(), third.log()).toBe(0);
    expect(isAlive(postgres)).toBe(false);
  },
  180_000,
);
