// The server serves a published index beside the API, like a static web host, but with the API's error bodies.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newApp } from "../../src/http/shell.ts";
import { indexSiteRoutes } from "../../src/routes/index-site.ts";
import type { RouteDeps } from "../../src/routes/deps.ts";

const LIST = JSON.stringify({ distros: [{ id: "debian", os_family: "linux" }], filler: "x".repeat(4_000) });
let root: string;
const app = newApp();
const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "berth-index-site-"));
  const release = join(root, "site/v1/distros/debian/releases/12");
  await mkdir(release, { recursive: true });
  await mkdir(join(root, "site/v1/distros/debian/aliases"), { recursive: true });
  await writeFile(join(root, "site/v1/index.json"), LIST);
  await writeFile(join(release, "index.json"), `{"distro":"debian","release":"12","builds":[]}`);
  await writeFile(join(root, "site/v1/distros/debian/aliases/latest.json"), "{}");
  await writeFile(join(root, "secret.json"), `"outside"`);
  await symlink(join(root, "secret.json"), join(root, "site/v1/images.json"));
  // Other tests cover the authorization; here every caller may read.
  indexSiteRoutes(
    app,
    // The cast is safe, because `allow` is the only dependency of these routes.
    { allow: () => (_c: unknown, next: () => Promise<void>) => next() } as unknown as RouteDeps,
    join(root, "site"),
  );
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a file has its ETag and its modification time", async () => {
  const answer = await get("/v1/index.json");
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe(LIST);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
  expect(Date.parse(answer.headers.get("last-modified") ?? "")).toBeGreaterThan(0);
});

test("a client with the current version gets 304 without a body", async () => {
  const first = await get("/v1/index.json");
  const etag = first.headers.get("etag") ?? "";
  const same = await get("/v1/index.json", { "if-none-match": etag });
  expect([same.status, await same.text()]).toEqual([304, ""]);
  const since = await get("/v1/index.json", { "if-modified-since": first.headers.get("last-modified") ?? "" });
  expect(since.status).toBe(304);
  expect((await get("/v1/index.json", { "if-none-match": `"other"` })).status).toBe(200);
});

test("the gzip representation has its own ETag", async () => {
  const plain = await get("/v1/index.json");
  const zipped = await get("/v1/index.json", { "accept-encoding": "gzip" });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(gunzipSync(new Uint8Array(await zipped.arrayBuffer())).toString()).toBe(LIST);
  expect(zipped.headers.get("etag")).not.toBe(plain.headers.get("etag"));
  expect((await get("/v1/index.json", { "accept-encoding": "gzip;q=0" })).headers.get("content-encoding")).toBeNull();
});

test("HEAD gets the same headers without the body", async () => {
  const answer = await app.request("/v1/index.json", { method: "HEAD" });
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
  expect(answer.headers.get("etag")).not.toBeNull();
});

test("a change of the file changes its ETag", async () => {
  const before = (await get("/v1/distros/debian/aliases/latest.json")).headers.get("etag");
  await writeFile(join(root, "site/v1/distros/debian/aliases/latest.json"), `{"builds":[]}`);
  expect((await get("/v1/distros/debian/aliases/latest.json")).headers.get("etag")).not.toBe(before);
});

test("an alias that is added later is served like the other aliases", async () => {
  await writeFile(join(root, "site/v1/distros/debian/aliases/newest.json"), `{"distro":"debian"}`);
  const answer = await get("/v1/distros/debian/aliases/newest.json");
  expect([answer.status, await answer.json()]).toEqual([200, { distro: "debian" }]);
});

test.each([
  "/v1/distros/debian/aliases/lts.json",
  "/v1/distros/debian/aliases/absent.json",
  "/v1/distros/debian/aliases/latest",
  "/v1/distros/debian/aliases/..%2findex.json",
  "/v1/distros/debian/aliases/dev.json",
  "/v1/distros/debian/releases/12/archive.json",
  "/v1/distros/nowhere/index.json",
  "/v1/distros/..%2f..%2f/index.json",
  "/v1/distros/.hidden/index.json",
  "/v1/images.json",
])("S-24: %s gets 404 with the API's error body", async (path) => {
  const answer = await get(path);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ message: "Not Found", request_id: expect.any(String) });
});
