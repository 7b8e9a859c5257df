// The server process has a list of permissions; the runtime refuses everything else. docs/reliability.md S-38.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serverPermissions, starterPermissions } from "../../src/permissions.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { readText } from "../lint/sources.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { descendants } from "./process-view.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FIXED = ["--no-prompt", "--cached-only", "--frozen"];

let database: FreshDatabase;
let folder: TemporaryFolder;

beforeAll(async () => {
  [database, folder] = await Promise.all([freshDatabase(), temporaryFolder("permissions")]);
  await writeFile(join(folder.path, "kept"), "kept");
  await writeFile(join(folder.path, "code.ts"), "self.postMessage?.('ran');");
});

afterAll(async () => {
  await database.drop();
  await folder.remove();
});

async function attempts(flags: readonly string[]): Promise<Record<string, string>> {
  const program = "tests/support/programs/forbidden-acts.ts";
  const { PATH, HOME = "", DENO_DIR = "" } = process.env;
  const env = { PATH, HOME, ...(DENO_DIR === "" ? {} : { DENO_DIR }) };
  const argv = ["run", ...FIXED, ...flags, program, folder.path];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: ROOT, env });
  return JSON.parse(stdout);
}

const FORBIDDEN = 24;
/** The tried actions that the fetcher process may do: it may only use the network. */
const NETWORK_ACTS = /^(?:connect|listen|resolve)/;
/** The tried actions that the parent process may do: it may only read and set environment variables. */
const ENVIRONMENT_ACTS = /^(?:read .*variable|set a variable)/;

const refused = (outcomes: Record<string, string>) =>
  Object.entries(outcomes).filter(([, outcome]) => outcome !== "NotCapable").map(([act]) => act);

describe("S-38: with the operator's PostgreSQL", { timeout: 120_000 }, () => {
  test("the flags are lists: writes only in the folder of images, no programs, no libraries, no other hosts", () => {
    const env = {
      HOST: "::1",
      PORT: "8443",
      DATABASE_URL: "postgres://u:p@db/b?sslrootcert=/etc/ca.pem",
      BERTH_OWNER_DATABASE_URL: "postgres://owner@[fd00::5]:5433/b",
      INDEX_SITE: "/srv/index",
      BERTH_IMAGE_DIR: "/srv/images",
      BERTH_TLS_CERT: "/etc/cert.pem",
      BERTH_TLS_KEY: "/etc/key.pem",
    };
    expect(serverPermissions(env, { fetcher_port: 40_000 })).toEqual([
      "--allow-net=[::1]:8443,db:5432,[fd00::5]:5433,127.0.0.1:40000",
      "--allow-env=HOST,PORT,DATABASE_URL,INDEX_SITE,BERTH_*,PG*,USER,USERNAME,WS_NO_BUFFER_UTIL,WS_NO_UTF_8_VALIDATE",
      "--allow-read=migrations,src/auth/password-worker.ts,console/dist,/srv/index,/etc/cert.pem,/etc/key.pem,/etc/ca.pem,/srv/images",
      "--allow-write=/srv/images",
    ]);
    expect(starterPermissions(env)).toEqual(["--allow-env", `--allow-run=${process.execPath}`]);
  });

  test.each([
    ["postgres://db:6000/b", "127.0.0.1:8080,db:6000"],
    ["postgres://u@/b?host=db2&port=7000", "127.0.0.1:8080,db2:7000"],
    ["postgres:///b", "127.0.0.1:8080,pg.example:7777"],
  ])("with the database URL %s, the network permission is %s", (DATABASE_URL, net) => {
    const env = { DATABASE_URL, PGHOST: "pg.example", PGPORT: "7777" };
    expect(serverPermissions(env)[0]).toBe(`--allow-net=${net}`);
  });

  test("for a database behind a Unix socket the flags permit that socket", () => {
    const flags = serverPermissions({ DATABASE_URL: "postgres:///b?host=/run/postgresql" });
    expect(flags[0]).toBe("--allow-net=127.0.0.1:8080");
    expect(flags.at(-1)).toBe("--allow-write=/run/postgresql/.s.PGSQL.5432");
  });

  test(`${FORBIDDEN} actions of a compromised server are refused`, async () => {
    const outcomes = await attempts(serverPermissions({ DATABASE_URL: database.url }, { fetcher_port: 1 }));
    expect(Object.keys(outcomes)).toHaveLength(FORBIDDEN);
    expect(refused(outcomes)).toEqual([]);
  });

  test("the fetcher process may use only the network", async () => {
    expect(refused(await attempts(["--allow-net"])).filter((act) => !NETWORK_ACTS.test(act))).toEqual([]);
  });

  test("of these actions, the parent process may only read and set its environment variables", async () => {
    const outcomes = await attempts(starterPermissions({ DATABASE_URL: database.url }));
    expect(refused(outcomes).filter((act) => !ENVIRONMENT_ACTS.test(act))).toEqual([]);
  });

  test("the same actions are permitted with --allow-all", async () => {
    const outcomes = Object.entries(await attempts(["--allow-all"]));
    expect(outcomes.filter(([, outcome]) => outcome === "NotCapable")).toEqual([]);
    expect(outcomes.filter(([, outcome]) => outcome === "done").length).toBeGreaterThan(15);
  });

  test("the server works with these flags: start, migration, login, writes, reads, metrics and stop", async () => {
    const asked = join(folder.path, "asked.jsonl");
    const env = { DATABASE_URL: database.url, BERTH_LOG_LEVEL: "debug" };
    const listening = { HOST: "127.0.0.1", PORT: "0" };
    const flags = serverPermissions({ ...env, ...listening });
    const server = await startServer({ env: { ...env, DENO_AUDIT_PERMISSIONS: asked }, flags: [...FIXED, ...flags] });
    const call = (path: string, body?: unknown) =>
      fetch(server.url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    const password = "a long enough password";
    expect((await call("/readyz")).status).toBe(200);
    expect((await call("/v1/system/users", { username: "operator", password })).status).toBe(201);
    const login = await fetch(`${server.url}/v1/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "operator", password }),
    });
    expect(login.status).toBe(200);
    expect((await call("/v1/silos", { name: "acme", description: "" })).status).toBe(201);
    for (const path of ["/v1/silos", "/v1/audit/events", "/v1/config", "/metrics", "/docs", "/openapi.json"]) {
      expect([path, (await call(path)).status]).toEqual([path, 200]);
    }
    expect(await server.stop()).toBe(0);
    expect(server.log()).not.toMatch(/Requires \w+ access|NotCapable/);
    expect(beyond(flags, await readFile(asked, "utf8"))).toEqual([]);
  });

  test("`task start` runs as three processes, and all of them end", async () => {
    const server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
    const children = childrenOf(server.pid);
    expect(children.map(({ argv }) => argv.find((word) => /^src\/.*\.ts$/.test(word))).sort()).toEqual([
      "src/outbound/process.ts",
      "src/serve.ts",
    ]);
    for (const { argv } of children) {
      expect(argv.filter((word) => /^(?:-A|--allow-all|--allow-run|--allow-ffi|--allow-write)/.test(word))).toEqual([]);
    }
    const { argv } = children.find(({ argv }) => argv.includes("src/serve.ts"))!;
    const net = argv.find((word) => word.startsWith("--allow-net"))!;
    const { host } = new URL(database.url);
    expect(net).toMatch(
      new RegExp(`^--allow-net=127\\.0\\.0\\.1:0,${host.replaceAll(".", "\\.")},127\\.0\\.0\\.1:\\d+$`),
    );
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(children.filter(({ pid }) => isRunning(pid))).toEqual([]);
  });

  test.each(["SIGKILL", "SIGTERM"] as const)(
    "when the parent process ends by %s, the other processes end, too",
    async (name) => {
      const server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
      const children = childrenOf(server.pid);
      expect(children).toHaveLength(2);
      server.signal(name);
      await server.ended;
      await expect.poll(() => children.filter(({ pid }) => isRunning(pid)), { timeout: 20_000 }).toEqual([]);
    },
  );
});

describe("S-38: with the embedded PostgreSQL", () => {
  const flags = () => starterPermissions({ BERTH_DATA_DIR: folder.path, PATH: process.env.PATH });

  test("the parent process writes only below its own folders, and connects to no other machine", () => {
    const programs = flags().find((flag) => flag.startsWith("--allow-run="))!.slice("--allow-run=".length).split(",");
    expect(programs[0]).toBe(process.execPath);
    expect(programs.slice(1).map((path) => basename(path))).toEqual(
      expect.arrayContaining(["initdb", "postgres", "sh", "id", "chown"]),
    );
    expect(programs.filter((path) => !path.startsWith("/"))).toEqual([]);
    expect(flags()).toEqual([
      "--allow-env",
      "--allow-net=127.0.0.1:0",
      `--allow-read=src,node_modules,package.json,${folder.path},/var/lib/berth`,
      `--allow-write=${folder.path},/var/lib/berth`,
      `--allow-run=${programs.join(",")}`,
      "--allow-sys=uid",
    ]);
  });

  test("`task start` starts, stops, and starts again after it was killed", { timeout: 180_000 }, async () => {
    const data = join(folder.path, "embedded");
    const start = () => startServer({ env: { BERTH_DATA_DIR: data, DATABASE_URL: undefined }, as_task: true });
    const first = await start();
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    expect(await first.stop()).toBe(0);
    const second = await start();
    const below = descendants(second.pid);
    expect(below.some(({ argv }) => argv.includes("postgres"))).toBe(true);
    await second.kill();
    const third = await start();
    expect((await fetch(`${third.url}/readyz`)).status).toBe(200);
    expect(await third.stop()).toBe(0);
    expect(third.log()).not.toMatch(/Requires \w+ access|NotCapable/);
  });

  test("the parent process may copy PostgreSQL's programs for a user that cannot read them", async () => {
    const program = "tests/support/programs/copy-binaries.ts";
    const argv = ["run", ...FIXED, ...flags(), program, folder.path];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: ROOT });
    const version = await promisify(execFile)(stdout.trim(), ["--version"]);
    expect(version.stdout).toMatch(/^postgres \(PostgreSQL\) \d/);
  });

  test("the server has the same permissions as with the operator's PostgreSQL", () => {
    const DATABASE_URL = "postgres://berth:p@127.0.0.1:5000/berth";
    expect(serverPermissions({ BERTH_DATA_DIR: folder.path, DATABASE_URL }, { fetcher_port: 1 })).toEqual([
      "--allow-net=127.0.0.1:8080,127.0.0.1:5000,127.0.0.1:1",
      expect.stringMatching(/^--allow-env=/),
      "--allow-read=migrations,src/auth/password-worker.ts,console/dist",
    ]);
  });
});

test("S-38: `task start` starts the parent process with exactly its permissions", () => {
  const fixed = `deno run ${FIXED.join(" ")}`;
  expect(JSON.parse(readText("deno.json")).tasks.start.command)
    .toBe(`${fixed} $(${fixed} --allow-env --allow-read src/permissions.ts) src/start.ts ${FIXED.join(" ")}`);
});

test("S-38: a value that cannot be part of a list stops the start with an error", () => {
  for (const path of ["a b", "a,b", "$HOME/x"]) {
    expect(() => starterPermissions({ BERTH_DATA_DIR: path })).toThrow(`${JSON.stringify(path)} cannot be granted`);
  }
  expect(() => starterPermissions({ PORT: "x" })).toThrow(/PORT/);
  expect(() => serverPermissions({ HOST: "berth.example", DATABASE_URL: "postgres://db/b" }))
    .toThrow("HOST must be an address such as 127.0.0.1, not the name berth.example");
});

/**
 * Permissions that libraries request but do not need: `pg` for its native driver, Deno's Worker for the environment.
 */
const MISSED = ["env NODE_PG_FORCE_NATIVE", "env null"];

/** Returns the permissions that a process requested and that the flags do not list, without MISSED. */
function beyond(flags: readonly string[], asked: string): string[] {
  const granted = new Map(flags.map((flag) => {
    const [, kind = "", values = ""] = /^--allow-(\w+)=(.*)$/.exec(flag)!;
    return [kind, values.split(",")];
  }));
  const covers: Readonly<Record<string, (value: string, given: string) => boolean>> = {
    env: (value, given) => given.endsWith("*") ? value.startsWith(given.slice(0, -1)) : value === given,
    read: (value, given) => value === join(ROOT, given) || value.startsWith(join(ROOT, given, "/")),
  };
  const entries = asked.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line)) as {
    readonly permission: string;
    readonly value: string | null;
  }[];
  expect(new Set(entries.map(({ permission }) => permission))).toEqual(new Set(["env", "net", "read"]));
  const isGranted = (permission: string, value: string) =>
    (granted.get(permission) ?? []).some((given) => (covers[permission] ?? Object.is)(value, given));
  return entries.filter(({ permission, value }) => value === null || !isGranted(permission, value))
    .map(({ permission, value }) => `${permission} ${value}`).filter((each) => !MISSED.includes(each));
}

type Child = { readonly pid: number; readonly argv: readonly string[] };

function childrenOf(pid: number): Child[] {
  return descendants(pid).map(({ pid, argv }) => ({ pid, argv: argv.split("\0").filter((word) => word !== "") }));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
