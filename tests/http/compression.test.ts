// Large JSON answers are compressed, unless they contain a secret (docs/wire.md, "Compression").
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADDRESS, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  for (let n = 0; n < 20; n++) await t.register({ hostname: `node-${n}` });
});
afterAll(() => t.close());

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

test.each(["/v1/health", "/v1/auth/whoami/none", "/docs", "/v1/system/cns", "/v2/cn-boot"])(
  "the answer of %s is not compressed, because it is small, an error, not JSON, or contains secrets",
  async (path) => {
    expect((await get(path)).headers.get("content-encoding")).toBeNull();
  },
);

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
