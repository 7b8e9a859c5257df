// Large JSON answers are compressed, unless they contain a secret (docs/wire.md, "Compression").
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newApp } from "../../src/http/shell.ts";
import { newMac, seen } from "../setup/machine.ts";
import { ADDRESS, okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  for (let n = 0; n < 20; n++) {
    await t.register({ hostname: `node-${n}`.padEnd(63, "x") });
    okOf(await seen(t, newMac()));
  }
});
afterAll(() => t.close());

/** Answers of this size are compressed, unless they contain a secret. */
const LARGE = 1_024;
/** Names of fields with secrets. */
const SECRET = /"(?:claim_code|poll_token|api_key|root_password_hash|password_hash|password|secret|user_data)":/;

/** Returns as JSON the schema of the answer to GET, with the schemas to which it refers. */
// deno-lint-ignore no-explicit-any -- the API description is any JSON
function answerOf(document: any, path: string): string {
  const names = new Set<string>();
  const textOf = (schema: unknown): string => {
    const text = JSON.stringify(schema ?? "");
    const found = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
    const more = found.filter((name) => !names.has(name));
    for (const name of more) names.add(name);
    return text + more.map((name) => textOf(document.components.schemas[name])).join("");
  };
  return textOf(document.paths[path].get?.responses["200"]);
}

async function get(path: string, encoding = "gzip", method = "GET"): Promise<Response> {
  const headers = { authorization: `Bearer ${ROOT_KEY}`, "accept-encoding": encoding };
  return await t.plane.fetch(new Request(`http://berth.test${path}`, { method, headers }), { remoteAddress: ADDRESS });
}

test("a large answer is compressed for a client that accepts gzip", async () => {
  const plain = await get("/v1/system/nodes", "identity");
  const zipped = await get("/v1/system/nodes", "br, gzip;q=0.8");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  for (const { headers } of [plain, zipped]) {
    expect(headers.get("vary")).toContain("accept-encoding");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
  const [text, bytes] = [await plain.text(), new Uint8Array(await zipped.arrayBuffer())];
  expect(gunzipSync(bytes).toString()).toBe(text);
  expect(bytes.length).toBeLessThan(text.length / 4);
});

test.each(["", "identity", "gzip;q=0", "gzip;q=0, *", "*;q=0.0", "deflate"])(
  "a large answer is not compressed for the Accept-Encoding %o",
  async (encoding) => {
    expect((await get("/v1/system/nodes", encoding)).headers.get("content-encoding")).toBeNull();
  },
);

test.each(["/v1/health", "/v1/auth/whoami/none", "/docs"])(
  "the answer of %s is not compressed, because it is small, an error or not JSON",
  async (path) => {
    expect((await get(path)).headers.get("content-encoding")).toBeNull();
  },
);

test.each(["/v1/system/cns", "/v1/search?q=node", "/v2/cn-boot"])(
  "the answer of %s is large, and is not compressed, because it contains secrets",
  async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, null]);
    expect((await answer.text()).length).toBeGreaterThan(LARGE);
  },
);

test("a large answer is not compressed if the schema of its route contains a secret", async () => {
  const document = (await t.call("GET", "/openapi.json")).body;
  const paths = Object.keys(document.paths).filter((path) => SECRET.test(answerOf(document, path)));
  const app = newApp();
  app.get("*", (c) => c.json({ text: "x".repeat(LARGE) }));
  for (const path of [...paths, "/v1/plain"]) {
    const request = new Request(`http://berth.test${path}`, { headers: { "accept-encoding": "gzip" } });
    const encoding = (await app.fetch(request)).headers.get("content-encoding");
    expect([path, encoding]).toEqual([path, path === "/v1/plain" ? "gzip" : null]);
  }
  expect(paths.length).toBeGreaterThan(3);
});

test.each(["*", "GZIP", "gzip; q=0.5, *;q=0", "br, *;q=0.1"])(
  "a large answer is compressed for the Accept-Encoding %o",
  async (encoding) => {
    expect((await get("/v1/system/nodes", encoding)).headers.get("content-encoding")).toBe("gzip");
  },
);

test("an answer to HEAD has no body and no encoding", async () => {
  const answer = await get("/v1/system/nodes", "gzip", "HEAD");
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
});
