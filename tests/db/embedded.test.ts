// Tests the embedded PostgreSQL: its start, its stop, and the access to its files.
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive } from "../../src/db/data-folder.ts";
import { startEmbedded } from "../../src/db/embedded.ts";
import { openClient } from "../../src/db/pool.ts";
import { type Program, startProgram } from "../support/program.ts";
import { databaseFolder, type TemporaryFolder } from "../support/temporary-folder.ts";

const settings = { fsync: "off" };
let folder: TemporaryFolder;
let programs: Program[] = [];

beforeEach(async () => {
  folder = await databaseFolder("embedded");
});

afterEach(async () => {
  for (const { child, ended } of programs) {
    child.kill("SIGKILL");
    await ended;
  }
  programs = [];
  await folder.remove();
});

async function hold(): Promise<{ program: Program; pid: number; url: string }> {
  const program = startProgram("hold-embedded", folder.path);
  programs.push(program);
  return { program, ...JSON.parse(await program.firstLine) };
}

async function answers(url: string, sql: string): Promise<unknown> {
  const client = await openClient({ url });
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

async function goneWithin(pid: number, limit_ms: number): Promise<boolean> {
  const end = Date.now() + limit_ms;
  while (isAlive(pid) && Date.now() < end) await new Promise((wake) => setTimeout(wake, 20));
  return !isAlive(pid);
}

test("after a restart of the server, the data and the login's password are the same", async () => {
  const first = await startEmbedded({ dataDir: folder.path, settings });
  await answers(first.ownerUrl, "create table kept as select 42 as answer");
  await first.stop();
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await startEmbedded({ dataDir: folder.path, settings });
  try {
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    expect(await answers(second.ownerUrl, "select answer from kept")).toBe(42);
  } finally {
    await second.stop();
  }
});

test("S-44: files with secrets have mode 0600, and a wrong password is rejected", async () => {
  const server = await startEmbedded({ dataDir: folder.path, settings });
  try {
    for (const name of ["password", "logins", "url", "owner-url"]) {
      expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(join(folder.path, "url"), "utf8")).toBe(server.url);
    const wrong = new URL(server.url);
    wrong.password = "guess";
    await expect(openClient({ url: wrong.href })).rejects.toThrow(/password authentication failed/);
  } finally {
    await server.stop();
  }
});

test("by default, fsync is on and the deadlock timeout is 200 ms", async () => {
  const server = await startEmbedded({ dataDir: folder.path });
  try {
    expect(await answers(server.ownerUrl, "select current_setting('fsync')")).toBe("on");
    expect(await answers(server.ownerUrl, "select current_setting('deadlock_timeout')")).toBe("200ms");
  } finally {
    await server.stop();
  }
});

test("a second process that opens the folder gets an error with the pid of the first process", async () => {
  const { program } = await hold();
  await expect(startEmbedded({ dataDir: folder.path, settings })).rejects.toThrow(`pid ${program.child.pid}`);
});

test("the server stops after a kill -9 of the process that started it", async () => {
  const { program, pid } = await hold();
  expect(isAlive(pid)).toBe(true);
  program.child.kill("SIGKILL");
  await program.ended;
  expect(await goneWithin(pid, 5_000)).toBe(true);
});

test("the server runs in its own session, so Ctrl-C does not reach it", async () => {
  const { pid } = await hold();
  const [, session] = /^NSsid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  expect(Number(session)).toBe(pid);
});

test("a server that survived the kill of its parent process and of its watcher is stopped before a new server starts", async () => {
  const { program, pid, url } = await hold();
  await killWatcherOf(pid);
  await answers(url, "create table kept as select 42 as answer");
  program.child.kill("SIGKILL");
  await program.ended;
  expect(isAlive(pid)).toBe(true);

  const server = await startEmbedded({ dataDir: folder.path, settings });
  try {
    expect(isAlive(pid)).toBe(false);
    expect(await answers(server.ownerUrl, "select answer from kept")).toBe(42);
  } finally {
    await server.stop();
  }
});

test("a start after an interrupted first start creates the database again", async () => {
  const server = await startEmbedded({ dataDir: folder.path, settings });
  await server.stop();
  await rename(join(folder.path, "pg"), join(folder.path, "pg.new"));
  const again = await startEmbedded({ dataDir: folder.path, settings });
  try {
    expect(await answers(again.ownerUrl, "select current_database()")).toBe("berth");
  } finally {
    await again.stop();
  }
});

test("the error for a folder of another major version of PostgreSQL names the guide, and the address to use for a dump", async () => {
  const server = await startEmbedded({ dataDir: folder.path, settings });
  await server.stop();
  const version = join(folder.path, "pg", "PG_VERSION");
  await writeFile(version, "17\n");
  await expect(startEmbedded({ dataDir: folder.path, settings })).rejects.toThrow(
    new RegExp(
      `was created by PostgreSQL 17, .* pg_dump and the address in ${join(folder.path, "owner-url")}, .*` +
        'backup\\.md, "The embedded PostgreSQL"',
    ),
  );
});

test("if PostgreSQL rejects a setting, the error contains PostgreSQL's message", async () => {
  await expect(startEmbedded({ dataDir: folder.path, settings: { ...settings, shared_buffers: "lots" } })).rejects
    .toThrow(/shared_buffers/);
});

async function killWatcherOf(pid: number): Promise<void> {
  for (const entry of await readdir("/proc")) {
    const line = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    if (line.split("\0").slice(3, 5).join(" ") === `berth-postgres-watch ${pid}`) {
      process.kill(Number(entry), "SIGKILL");
    }
  }
}
