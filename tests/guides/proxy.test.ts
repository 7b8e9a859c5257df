// Tests the guide to several processes behind a proxy, with real processes and with nginx. On a machine without nginx,
// a small proxy replaces nginx.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { REGISTER_STATUS_HOLD_MS } from "../../src/contract/limits.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { lacking, needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { answering, away, SESSIONS } from "./answering.ts";
import { blocksOf, settingsIn } from "./guide.ts";
import { startNginx } from "./nginx.ts";
import { guidePort } from "./ports.ts";
import { berth, replaced, ROOT, runGuides, SESSION } from "./run.ts";
import { makeCertificate, startTlsProxy } from "./tls-proxy.ts";

const guide = await readFile(join(ROOT, "docs/guides/proxy.md"), "utf8");
const [block = "", ...others] = settingsIn(guide, "nginx");

describe("the block for nginx", () => {
  test("is the only nginx block of the guide, and each of its statements is complete", () => {
    expect(others).toEqual([]);
    for (const line of block.split("\n")) expect(line).toMatch(/[;{}]$/);
    expect(block.split("{").length).toBe(block.split("}").length);
  });

  test.each(["berth", "berth_changes"])("names in %s exactly the processes that the guide starts", (upstream) => {
    const scripts = blocksOf(guide).map(({ script }) => script).join("\n");
    const started = [...scripts.matchAll(/^PORT=(\d+) /gm)].map(([, port]) => port);
    const [, servers = ""] = new RegExp(`upstream ${upstream} {([^}]*)}`).exec(block) ?? [];
    expect([...servers.matchAll(/^ *server [\d.]+:(\d+) /gm)].map(([, port]) => port)).toEqual(started);
  });

  test("has a timeout longer than a long poll", () => {
    const [, seconds = 0] = /proxy_read_timeout (\d+)s;/.exec(block) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(2 * REGISTER_STATUS_HOLD_MS);
  });

  test("overwrites the caller's X-Forwarded-For, because the processes trust the proxy", () => {
    expect(block).toContain("proxy_set_header X-Forwarded-For $remote_addr;");
  });
});

/** Starts nginx with the block of the guide. Only ports and the path of the certificate are replaced. */
async function startGuideNginx(folder: string, ports: readonly number[]) {
  const files = makeCertificate(folder);
  const port = await guidePort();
  const instead: Readonly<Record<string, string>> = {
    "8081": String(ports[0]),
    "8082": String(ports[1]),
    "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
    "/etc/ssl/berth.pem": files.certificate,
    "/etc/ssl/berth.key": files.key,
  };
  for (const argv of Object.keys(instead)) expect(block).toContain(argv);
  return { port, ...await startNginx(folder, replaced(block, instead)) };
}

describe("a rolling restart behind the guide's nginx", () => {
  test("causes no 502, even if the second process restarts immediately after the first", async (context) => {
    needs(context, "nginx", "openssl", "curl");
    const folder = await temporaryFolder("guide-proxy-restart");
    const ports = [await guidePort(), await guidePort()] as const;
    const proxy = await startGuideNginx(folder.path, ports);
    const url = `https://localhost:${proxy.port}/`;
    /** Sends four requests, so that nginx tries each process. Returns the statuses of the answers. */
    const statuses = async () => {
      const argv = ["-s", "-k", "-o", "/dev/null", "-w", "%{http_code}\n", "-X", "POST"];
      const asked = [];
      for (const _ of [1, 2, 3, 4]) {
        asked.push((await promisify(execFile)(present("curl"), [...argv, url])).stdout.trim());
      }
      return asked;
    };
    let [first, second] = [await answering(ports[0]), await answering(ports[1])];
    try {
      await away(first);
      expect(await statuses()).toEqual(["200", "200", "200", "200"]);
      first = await answering(ports[0]);
      // nginx has just noticed that the first process did not answer. Now nginx needs this process again.
      await away(second);
      expect(await statuses()).toEqual(["200", "200", "200", "200"]);
      second = await answering(ports[1]);
    } finally {
      await Promise.all([away(first), away(second)]);
      await proxy.close();
      await folder.remove();
    }
  });
});

test("the guide's nginx sends all change polls of a console session to one process that answers", async (context) => {
  needs(context, "nginx", "openssl", "curl");
  const folder = await temporaryFolder("guide-proxy-changes");
  const ports = [await guidePort(), await guidePort()] as const;
  const servers = await Promise.all(ports.map(answering));
  const proxy = await startGuideNginx(folder.path, ports);
  const poll = async (session: number) => {
    const argv = ["-s", "-k", "-H", `Cookie: __Host-berth=${session}`];
    const url = `https://localhost:${proxy.port}/v1/changes?wait=20`;
    return (await promisify(execFile)(present("curl"), [...argv, url])).stdout;
  };
  try {
    const answers = await Promise.all(SESSIONS.map(poll));
    expect(new Set(answers)).toEqual(new Set(ports.map(String)));
    for (const session of [...SESSIONS, ...SESSIONS]) expect(await poll(session)).toBe(answers[session]);
    await away(servers[0]!);
    for (const session of SESSIONS) expect(await poll(session)).toBe(String(ports[1]));
  } finally {
    await Promise.all(servers.map(away));
    await proxy.close();
    await folder.remove();
  }
});

describe("the guide", () => {
  let database: FreshDatabase;
  let folder: TemporaryFolder;
  let close: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    await buildExecutables();
    database = await freshDatabase();
    folder = await temporaryFolder("guide-proxy");
  }, 300_000);
  afterEach(async () => {
    await close?.();
    await database.drop();
    await folder.remove();
  });

  async function startProxy(ports: readonly number[]) {
    if (lacking("nginx") === null) return await startGuideNginx(folder.path, ports);
    console.warn("the guide's nginx block is not run; a small proxy replaces nginx");
    return await startTlsProxy(makeCertificate(folder.path), ports);
  }

  test("works with two processes behind a proxy, and both get requests", async (context) => {
    needs(context, ...SESSION, "curl", "openssl");
    const ports = [await guidePort(), await guidePort()];
    const proxy = await startProxy(ports);
    close = proxy.close;
    const env = {
      BERTH: berth(),
      DATABASE_URL: database.url,
      BERTH_ROOT_KEY: ROOT_KEY,
      OPSCTL_API_KEY: ROOT_KEY,
    };
    const instead = {
      "8081": String(ports[0]),
      "8082": String(ports[1]),
      "berth.example": `localhost:${proxy.port}`,
      "/etc/ssl/berth.pem": join(folder.path, "berth.pem"),
    };
    await runGuides(["proxy"], { folder: folder.path, env, instead });
    const answered = await proxy.answered();
    for (const port of ports) expect(answered.get(port)).toBeGreaterThan(0);
  }, 300_000);
});
