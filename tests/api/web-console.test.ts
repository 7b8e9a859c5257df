// Tests the answers at the server's root path, and the files of the web console.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const SCRIPT = "main-3F2KQ7AB.js";

let t: TestControlPlane;
let folder: TemporaryFolder;

const get = (path: string, headers: Record<string, string> = {}) => t.call("GET", path, { key: null, headers });

beforeAll(async () => {
  folder = await temporaryFolder("web-console");
  t = await openTestControlPlane({ webConsoleFolder: join(folder.path, "dist") });
});
afterAll(async () => {
  await t.close();
  await folder.remove();
});

describe("the root path", () => {
  test("answers a program with the version and the paths of the console, of /docs and of /openapi.json", async () => {
    const greeting = okOf(await get("/"));
    expect(greeting).toEqual({
      name: "Berth",
      version: expect.stringMatching(/^\d/),
      console: "/console/",
      docs: "/docs",
      openapi: "/openapi.json",
      identity_service: false,
    });
    for (const path of [greeting.docs, greeting.openapi]) expect((await get(path)).status).toBe(200);
  });

  test("redirects a browser to the console", async () => {
    const answer = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
    expect(answer.headers.get("vary")).toBe("accept");
  });

  test("of the console has a final slash: /console redirects to /console/", async () => {
    const answer = await get("/console");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
  });
});

test("without a build, a page explains how to build the console", async () => {
  const answer = await get("/console/nodes");
  expect(answer.status).toBe(404);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.text).toContain("task console:build");
});

describe("with a build", () => {
  beforeAll(async () => {
    const dist = join(folder.path, "dist");
    await mkdir(dist);
    await writeFile(join(dist, "index.html"), "<!doctype html><title>Berth</title>");
    await writeFile(join(dist, SCRIPT), "console.log(1)");
    await writeFile(join(dist, "icon.svg"), "<svg/>");
    await writeFile(join(folder.path, "outside.js"), "outside");
  });

  test.each(["/console/", "/console/nodes", "/console/t/web/p/shop/", "/console/go/node-1.example"])(
    "%s gets the console's page, which a browser checks for changes at every load",
    async (path) => {
      const page = await get(path);
      expect([page.status, page.text]).toEqual([200, "<!doctype html><title>Berth</title>"]);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(page.headers.get("cache-control")).toBe("no-cache");
      expect((await get(path, { "if-none-match": page.headers.get("etag") ?? "" })).status).toBe(304);
    },
  );

  test("a browser may keep a file that has a hash in its name, and must check any other file for changes", async () => {
    const script = await get(`/console/${SCRIPT}`);
    expect([script.status, script.text]).toEqual([200, "console.log(1)"]);
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await get("/console/icon.svg")).headers.get("cache-control")).toBe("no-cache");
  });

  test("S-34: the content security policy of the page allows only the server's own scripts, and no markup from strings", async () => {
    for (const path of ["/console/", `/console/${SCRIPT}`]) {
      const { headers } = await get(path);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy.split("; ")).toEqual(expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]));
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test.each(["gone.js", "../outside.js", "..%2foutside.js", "%2e%2e/outside.js", ".hidden.js"])(
    "S-24: there is no file %s",
    async (name) => {
      const answer = await get(`/console/${name}`);
      expect(answer.status).toBe(404);
      expect(answer.body.message).toBe("Not Found");
    },
  );
});
