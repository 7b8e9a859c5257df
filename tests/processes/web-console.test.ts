// Tests the server's part of the web console, with the server and the permissions of `task start`: the page, a session
// in a cookie, and a change that opsctl makes. The test sends requests as a browser does.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole } from "../../console/bundle.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { buildExecutables, run } from "./executables.ts";

/** The server's part of the 500 ms within which a change must be on screen. */
const ANSWER_MS_MAX = 300;

let database: FreshDatabase;
let server: ServerProcess;
beforeAll(async () => {
  database = await freshDatabase();
  await buildConsole(fileURLToPath(new URL("../../console/dist", import.meta.url)));
  await buildExecutables(["opsctl"]);
  server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

test("the server sends the page with its content security policy, and all files that the page names", async () => {
  const page = await fetch(`${server.url}/console/nodes`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
  const html = await page.text();
  expect(html).toMatch(/^<!doctype html>/i);
  const paths = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  const types = await Promise.all(paths.map(async (path) => {
    const file = await fetch(server.url + path);
    await file.body?.cancel();
    return [file.status, file.headers.get("content-type")?.split(";")[0]];
  }));
  expect(types).toEqual([[200, "image/svg+xml"], [200, "text/css"], [200, "text/javascript"]]);
});

test("a signed-in page soon gets a change that opsctl made, and a page of another site can change nothing", async () => {
  const own = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
  const body = JSON.stringify({ api_key: ROOT_KEY });
  const signedIn = await fetch(`${server.url}/v1/console/session`, { method: "POST", headers: own, body });
  expect((await signedIn.json()).is_root).toBe(true);
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const read = async (path: string) => await (await fetch(server.url + path, { headers: { cookie } })).json();

  const { cursor } = await read("/v1/changes");
  const waiting = read(`/v1/changes?after=${cursor}&wait=20`).then((feed) => ({ feed, at_ms: performance.now() }));
  const env = { OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  const { out } = await run("opsctl", ["silo", "create", "acme", "--json"], { env });
  const made_at_ms = performance.now();
  const { feed, at_ms } = await waiting;
  expect(feed.refs).toContainEqual({ kind: "silo", id: JSON.parse(out).id });
  expect(at_ms - made_at_ms).toBeLessThan(ANSWER_MS_MAX);

  const foreign = { cookie, "sec-fetch-site": "cross-site", "content-type": "application/json" };
  const refused = await fetch(`${server.url}/v1/silos`, { method: "POST", headers: foreign, body: `{"name":"evil"}` });
  expect(refused.status).toBe(403);
  expect((await read("/v1/silos")).map(({ name }: { name: string }) => name)).toEqual(["acme"]);
  const end = await fetch(`${server.url}/v1/console/session`, { method: "DELETE", headers: { ...own, cookie } });
  expect(end.status).toBe(204);
  expect((await fetch(`${server.url}/v1/auth/whoami`, { headers: { cookie } })).status).toBe(401);
});
