// What the server's process may do is a list, and everything else is refused by the runtime. Reliability rule S-38.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serverPermissions } from "../../src/permissions.ts";
import { type FreshDatabase, freshDatabase } from "../harness/database.ts";
import { readText } from "../house/sources.ts";
import { ROOT_KEY, startServer } from "../harness/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../harness/temporary-folder.ts";

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
  const program = "tests/harness/programs/forbidden-acts.ts";
  const { PATH, HOME = "", DENO_DIR = "" } = process.env;
  const env = { PATH, HOME, ...(DENO_DIR === "" ? {} : { DENO_DIR }) };
  const argv = ["run", ...FIXED, ...flags, program, folder.path];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: ROOT, env });
  return JSON.parse(stdout);
}

describe("S-38: with a PostgreSQL of the operator's", { timeout: 120_000 }, () => {
  test("the flags are lists: no file is written, no program started, no library loaded", () => {
    const flags = serverPermissions({
      DATABASE_URL: "postgres://u:p@db/b?sslrootcert=/etc/ca.pem",
      INDEX_SITE: "/srv/index",
      BERTH_TLS_CERT: "/etc/cert.pem",
      BERTH_TLS_KEY: "/etc/key.pem",
    });
    expect(flags).toEqual([
      "--allow-net",
      "--allow-env=HOST,PORT,DATABASE_URL,INDEX_SITE,BERTH_*,PG*,USER,USERNAME",
      "--allow-read=migrations,src/auth/password-worker.ts,/srv/index,/etc/cert.pem,/etc/key.pem,/etc/ca.pem",
    ]);
  });

  test("20 acts of a server that was taken over are refused", async () => {
    const outcomes = await attempts(serverPermissions({ DATABASE_URL: database.url }));
    expect(Object.keys(outcomes)).toHaveLength(20);
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== "NotCapable")).toEqual([]);
  });

  test("the probe's acts succeed where everything is allowed", async () => {
    const outcomes = Object.entries(await attempts(["--allow-all"]));
    expect(outcomes.filter(([, outcome]) => outcome === "NotCapable")).toEqual([]);
    expect(outcomes.filter(([, outcome]) => outcome === "done").length).toBeGreaterThan(15);
  });

  test("the server does its work with them: it migrates, signs in, writes, reads, measures and ends", async () => {
    const env = { DATABASE_URL: database.url, BERTH_LOG_LEVEL: "debug" };
    const server = await startServer({ env, flags: [...FIXED, ...serverPermissions(env)] });
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
  });
});

describe("S-38: with the PostgreSQL that it brings along", () => {
  const flags = () => serverPermissions({ BERTH_DATA_DIR: folder.path });

  test("it writes below its own folders alone", () => {
    expect(flags().find((flag) => flag.startsWith("--allow-write"))).toBe(
      `--allow-write=${folder.path},/var/lib/berth`,
    );
    expect(flags().filter((flag) => /^(?:-A|--allow-all|--allow-ffi)/.test(flag))).toEqual([]);
  });
});

test("S-38: `task start` starts the server with them and with nothing else", () => {
  const fixed = `deno run ${FIXED.join(" ")}`;
  expect(JSON.parse(readText("deno.json")).tasks.start.command)
    .toBe(`${fixed} $(${fixed} --allow-env src/permissions.ts) src/serve.ts`);
});

test("S-38: what cannot be written as a list stops the start and is named", () => {
  for (const path of ["a b", "a,b", "$HOME/x"]) {
    expect(() => serverPermissions({ BERTH_DATA_DIR: path })).toThrow(`${JSON.stringify(path)} cannot be granted`);
  }
  expect(() => serverPermissions({ PORT: "x" })).toThrow(/PORT/);
});
