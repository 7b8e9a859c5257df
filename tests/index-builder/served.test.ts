// Tests the site that the compiled index-builder publishes, served by `task start` with the task's own Deno
// permissions.
import { cp, mkdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Compiled, compiled } from "../support/compiled.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { webFolder } from "./recorded-vendor.ts";

const BUILD_MS_MAX = 120_000;
const PATIENCE_MS = 60_000;
/** The number of publications in a test: several times the number of generations that the builder keeps. */
const PUBLICATIONS = 12;

let folder: TemporaryFolder;
let database: FreshDatabase;
let builder: Compiled;
let server: ServerProcess;
const at = (...parts: string[]) => join(folder.path, ...parts);
const site = () => at("images", "site");
const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

beforeAll(async () => {
  [folder, database] = await Promise.all([temporaryFolder("served-index"), freshDatabase()]);
  builder = await compiled("index-builder", at("bin"));
  await mkdir(at("images"));
  for (const day of ["2026-10-09", "2026-10-10"]) await fragment(day);
  await publish("2026-10-09");
  server = await startServer({ as_task: true, env: { DATABASE_URL: database.url, INDEX_SITE: site() } });
}, BUILD_MS_MAX);
afterAll(async () => {
  await server?.stop();
  await database?.drop();
  await folder?.remove();
});

/** Builds one vendor's files on a given day. Their first_seen depends on the day, but their length does not. */
async function fragment(day: string): Promise<void> {
  const web = ["--recorded", webFolder("t0"), "--at", `${day}T05:17:00Z`];
  expect((await builder.run("vendor", "debian", "--previous", at("none"), "--out", at(day), ...web)).code).toBe(0);
}

async function publish(day: string): Promise<void> {
  const { code, stderr, stdout } = await builder.run("assemble", "--site", site(), at(day));
  expect([code, code === 0 ? "" : stderr + stdout]).toEqual([0, ""]);
}

describe("a site of index-builder, served by `task start` with INDEX_SITE:", () => {
  test("documents below v1/ are served, with the builder's content", async () => {
    expect(await readlink(site())).toMatch(/^\.site\.generations\/\d+\/site$/);
    const paths = [
      ...["/v1/index.json", "/v1/images.json", "/v1/openapi.json", "/v1/distros/debian/index.json"],
      "/v1/distros/debian/aliases/latest.json",
    ];
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect(await (await get("/v1/images.json")).text()).toContain(`"first_seen": "2026-10-09T05:17:00.000Z"`);
    expect(server.log()).not.toContain("NotCapable");
  });

  test("a publication is visible at once, with a new ETag", async () => {
    const before = (await get("/v1/images.json")).headers.get("etag");
    await publish("2026-10-10");
    const after = await get("/v1/images.json");
    expect([after.status, after.headers.get("etag") === before]).toEqual([200, false]);
    expect(await after.text()).toContain(`"first_seen": "2026-10-10T05:17:00.000Z"`);
    expect((await get("/v1/images.json", { "if-none-match": before! })).status).toBe(200);
  });

  test("during publications every response is one complete document of one generation", async () => {
    const whole = new Map<string, string>();
    for (const day of ["2026-10-09", "2026-10-10"]) {
      await publish(day);
      const answer = await get("/v1/images.json");
      whole.set(answer.headers.get("etag")!, await answer.text());
    }
    expect(whole.size).toBe(2);
    let publishing = true;
    const seen = new Map<string, number>();
    const readers = Array.from({ length: 8 }, async () => {
      while (publishing) {
        const answer = await get("/v1/images.json");
        const text = await answer.text();
        const kind = answer.status !== 200
          ? `${answer.status} ${text}`
          : whole.get(answer.headers.get("etag")!) === text
          ? "whole"
          : `mixed under ${answer.headers.get("etag")}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    });
    for (let n = 0; n < PUBLICATIONS; n++) await publish(n % 2 === 0 ? "2026-10-09" : "2026-10-10");
    publishing = false;
    await Promise.all(readers);
    expect([...seen.keys()]).toEqual(["whole"]);
    expect(seen.get("whole")).toBeGreaterThan(PUBLICATIONS);
  }, PATIENCE_MS);

  test("a download that began before its generation was removed completes with the same bytes", async () => {
    const text = await (await get("/v1/images.json")).text();
    const socket = connect(server.port, "127.0.0.1");
    socket.pause();
    socket.write("GET /v1/images.json HTTP/1.0\r\nhost: berth\r\n\r\n");
    // A response to a later request shows that the server has handled this request.
    await get("/v1/index.json");
    for (const day of ["2026-10-09", "2026-10-10", "2026-10-09", "2026-10-10"]) await publish(day);
    let read = "";
    for await (const chunk of socket.setEncoding("utf8")) read += chunk;
    expect(read.slice(read.indexOf("\r\n\r\n") + 4)).toBe(text);
  });

  test("S-24: a link to a file outside the site is not followed, but a link within the site is followed", async () => {
    const tree = join(at("images"), await readlink(site()), "v1");
    await writeFile(at("images", "secret.json"), `"outside"`);
    await rm(join(tree, "distros/debian/aliases/latest.json"));
    await symlink(at("images", "secret.json"), join(tree, "distros/debian/aliases/latest.json"));
    await symlink("/etc", join(tree, "distros/etc"));
    await symlink("debian", join(tree, "distros/same"));
    expect((await get("/v1/distros/debian/aliases/latest.json")).status).toBe(404);
    expect((await get("/v1/distros/etc/index.json")).status).toBe(404);
    expect((await get("/v1/distros/same/index.json")).status).toBe(200);
  });

  test("a site behind an operator's link, in a folder that is also a link, is served", async () => {
    await mkdir(at("releases/7/v1"), { recursive: true });
    await cp(at("2026-10-09", "v1"), at("releases/7/v1"), { recursive: true });
    await writeFile(at("releases/7/v1/index.json"), "{}");
    await mkdir(at("srv"));
    await symlink("../releases/7", at("srv/current"));
    await symlink("srv", at("web"));
    const env = { DATABASE_URL: database.url, INDEX_SITE: at("web/current") };
    const other = await startServer({ as_task: true, env });
    try {
      expect(await (await fetch(`${other.url}/v1/index.json`)).text()).toBe("{}");
      await mkdir(at("releases/8/v1"), { recursive: true });
      await writeFile(at("releases/8/v1/index.json"), `{"release":8}`);
      await symlink("../releases/8", at("srv/next"));
      await rename(at("srv/next"), at("srv/current"));
      expect(await (await fetch(`${other.url}/v1/index.json`)).json()).toEqual({ release: 8 });
    } finally {
      await other.stop();
    }
  }, PATIENCE_MS);
});
