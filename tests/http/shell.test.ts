// Tests the parts of the HTTP handler that all routes share: errors, headers, and the checks of bodies and parameters.
import { createRoute } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { z } from "zod";
import { BODY_BYTES_MAX, JSON_DEPTH_MAX, URI_BYTES_MAX } from "../../src/contract/limits.ts";
import { conflict, fault } from "../../src/contract/fault.ts";
import { faultResponse } from "../../src/http/fault-status.ts";
import { ERROR_RESPONSES } from "../../src/http/openapi.ts";
import { newApp, type Observation, type ShellOptions } from "../../src/http/shell.ts";
import { parseCidr } from "../../src/lib/net/ip-address.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const JSON_HEADERS = { "content-type": "application/json" };

const Body = z.strictObject({
  count: z.number().int().min(1).max(9).nullish(),
  name: z.string().min(2).max(4),
  role: z.enum(["edge", "tenant"]).optional(),
  disks: z.array(z.object({ id: z.guid() })).max(2).optional(),
  label: z.string().regex(/^x/, "label must begin with x").optional(),
  target: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("a"), n: z.number() }),
    z.object({ kind: z.literal("b") }),
  ]).optional(),
});
const saved = createRoute({
  method: "post",
  path: "/v1/things/{id}",
  request: {
    params: z.object({ id: z.guid() }),
    query: z.object({ limit: z.coerce.number().int().min(1).optional() }),
    body: { required: true, content: { "application/json": { schema: Body } } },
  },
  responses: { 200: { description: "ok", content: { "application/json": { schema: Body } } }, ...ERROR_RESPONSES },
});
const ID = "3f0f5a4e-8f0e-4c39-9d1c-6c7b8e0f1a2b";

function shelled(options: ShellOptions = {}) {
  const app = newApp(options);
  app.openapi(saved, (c) => {
    const { name, ...rest } = c.req.valid("json");
    return name === "busy" ? faultResponse(c, conflict("it is busy")) : c.json({ name, ...rest }, 200);
  });
  app.get("/v1/who", (c) => c.json({ address: c.get("clientAddress"), principal: c.get("principal") }));
  app.get("/v1/fault/:kind", (c) =>
    faultResponse(
      c,
      c.req.param("kind") === "wait"
        ? fault("too_many_requests", "slow down", { error_code: "TooManyRequests", retry_after_s: 0.2 })
        : fault("unauthenticated", "Unauthenticated", { error_code: "Unauthenticated" }),
    ));
  app.get("/v1/bug", () => {
    throw new Error("secret canary at postgres://user:pw@host");
  });
  app.delete("/v1/bodyless/:id", (c) => c.body(null, 204));
  app.post("/v1/bodyless/:id", (c) => c.json(null));
  return app;
}
const app = shelled();
const post = (body: BodyInit | null, headers: Record<string, string> = JSON_HEADERS, path = `/v1/things/${ID}`) =>
  app.request(path, { method: "POST", body, headers });
const message = async (response: Response) => (await response.json()).message as string;

test("every error has the error body, its request id in the header, and the security headers", async () => {
  const answers = [
    await app.request("/nowhere"),
    await app.request("/v1/who", { method: "DELETE" }),
    await app.request("/v1/bug"),
    await app.request("/v1/who?a=1&a=2"),
    await app.request(`/v1/who?${"a".repeat(URI_BYTES_MAX)}`),
    await post("{"),
    await post("{}"),
    await post("a=b", { "content-type": "application/x-www-form-urlencoded" }),
    await post("x".repeat(BODY_BYTES_MAX + 1)),
    await app.request("/v1/fault/wait"),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([404, 405, 500, 400, 414, 400, 400, 415, 413, 429]);
  for (const answer of answers) {
    const { message, request_id, error_code, ...rest } = await answer.json();
    expect(rest).toEqual({});
    expect(typeof message).toBe("string");
    expect(request_id).toMatch(UUID);
    expect(["string", "undefined"]).toContain(typeof error_code);
    expect(answer.headers.get("x-request-id")).toBe(request_id);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
});

test("a caller's request id is echoed when it is a UUID and replaced when it is not", async () => {
  const id = async (sent: string) =>
    (await app.request("/v1/who", { headers: { "x-request-id": sent } })).headers.get("x-request-id");
  expect(await id(ID.toUpperCase())).toBe(ID);
  for (const bad of ["", "1", `${ID}x`, "00000000-0000-0000-0000-000000000000", '{"a":1}']) {
    expect(await id(bad)).toMatch(UUID);
    expect(await id(bad)).not.toBe(bad);
  }
});

test("an unknown path gets 404 without an error code; a known path with another method gets 405 with Allow", async () => {
  expect(await (await app.request("/nowhere")).json()).not.toHaveProperty("error_code");
  const refused = await app.request("/v1/bodyless/1", { method: "PUT" });
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
  const read = await app.request("/v1/who", { method: "POST" });
  expect([read.status, read.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("HEAD gets the answer of GET without a body, and a route without GET refuses HEAD", async () => {
  const head = await app.request("/v1/who", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect((await app.request("/v1/bodyless/1", { method: "HEAD" })).status).toBe(405);
});

test("no CORS header allows another origin", async () => {
  for (const origin of ["https://evil.example", "null"]) {
    for (const method of ["GET", "OPTIONS"]) {
      const answer = await app.request("/v1/who", {
        method,
        headers: { origin, "access-control-request-method": "GET" },
      });
      expect(answer.status).toBe(method === "GET" ? 200 : 405);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
});

test("S-18: an answer does not contain the text of a thrown error", async () => {
  const answer = await app.request("/v1/bug");
  expect(await answer.json()).toMatchObject({ message: "Internal Server Error", error_code: "Internal" });
});

test("a handler may return a Fault, which becomes the status and the body of the answer", async () => {
  const answer = await post('{"name":"busy"}');
  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({ message: "it is busy", error_code: "Conflict" });
});

test("a fault sets Retry-After or WWW-Authenticate", async () => {
  const late = await app.request("/v1/fault/wait");
  expect([late.status, late.headers.get("retry-after")]).toEqual([429, "1"]);
  const unknown = await app.request("/v1/fault/who");
  expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

test("a body is parsed by its schema", async () => {
  const body = { name: "abc", count: 9, target: { kind: "a", n: 1.5 } };
  expect(await (await post(JSON.stringify(body))).json()).toEqual(body);
});

test.each([
  [{}, "body.name: is required", undefined],
  [{ name: 1 }, "body.name: must be a string", undefined],
  [{ name: "a" }, "body.name: must have >= 2 characters", "BadRequest"],
  [{ name: "abcde" }, "body.name: must have <= 4 characters", "BadRequest"],
  [{ name: "ab", count: 0 }, "body.count: must be >= 1", "BadRequest"],
  [{ name: "ab", count: 10 }, "body.count: must be <= 9", "BadRequest"],
  [{ name: "ab", count: 1.5 }, "body.count: must be an integer", undefined],
  [{ name: "ab", role: "king" }, "body.role: must be one of edge, tenant", undefined],
  [{ name: "ab", label: "y" }, "body.label: label must begin with x", "BadRequest"],
  [{ name: "ab", disks: [{ id: ID }, { id: "7" }] }, "body.disks[1].id: must be a UUID", undefined],
  [{ name: "ab", disks: [{ id: ID }, { id: ID }, { id: ID }] }, "body.disks: must have <= 2 entries", "BadRequest"],
  [{ name: "ab", foo: 1 }, 'body: unknown field "foo"', undefined],
  [{ name: "ab", target: { kind: "a" } }, "body.target.n: is required", undefined],
  [[], "body: must be an object", undefined],
  [null, "body: must be an object", undefined],
])("the body %j is refused with the field and the rule", async (body, expected, code) => {
  const answer = await post(JSON.stringify(body));
  expect(answer.status).toBe(400);
  const error = await answer.json();
  expect([error.message, error.error_code]).toEqual([expected, code]);
});

test("path and query parameters have the same error texts as body fields", async () => {
  const body = '{"name":"ab"}';
  expect(await message(await post(body, JSON_HEADERS, "/v1/things/7"))).toBe("path.id: must be a UUID");
  expect(await message(await post(body, JSON_HEADERS, `/v1/things/${ID}?limit=0`))).toBe("query.limit: must be >= 1");
});

test("an error never repeats a value, and shortens and escapes field names", async () => {
  const error = await message(
    await post(JSON.stringify({ name: "canary-canary", [`k\n${"x".repeat(500)}`]: "canary" })),
  );
  expect(error).not.toContain("canary");
  expect(error).not.toContain("\n");
  expect(error.length).toBeLessThan(300);
});

test.each([
  ["nothing", ""],
  ["an open brace", "{"],
  ["two values", '{"name":"ab"} 1'],
  ["a number with a leading zero", '{"name":"ab","count":01}'],
])("a JSON body of %s is malformed", async (_case, text) => {
  const answer = await post(text);
  expect(answer.status).toBe(400);
  expect(await message(answer)).toBe("Malformed JSON in request body");
});

test("a body that is not UTF-8 is malformed", async () => {
  expect(await message(await post(new Uint8Array([0x22, 0xff, 0x22])))).toBe("Malformed JSON in request body");
});

test.each([
  ["a repeated key", '{"name":"ab","name":"cd"}', "repeat a key"],
  ["__proto__", '{"name":"ab","__proto__":{}}', "__proto__"],
  ["an integer that would be rounded", '{"name":"ab","count":9007199254740993}', "integers"],
  ["a NUL", '{"name":"a\\u0000b"}', "NUL"],
  ["too deep nesting", "[".repeat(JSON_DEPTH_MAX + 1), "nested deeper"],
])("a JSON body with %s is refused before its schema is applied", async (_case, text, rule) => {
  const answer = await post(text);
  expect(answer.status).toBe(400);
  expect(await message(answer)).toContain(rule);
});

test("a body of the maximum size is read; with one byte more it gets 413, whether its length is declared or not", async () => {
  const fits = `{"name":"ab"${" ".repeat(BODY_BYTES_MAX - 13)}}`;
  expect(fits.length).toBe(BODY_BYTES_MAX);
  expect((await post(fits)).status).toBe(200);
  expect((await post(`${fits} `)).status).toBe(413);
  expect((await post("{}", { ...JSON_HEADERS, "content-length": String(BODY_BYTES_MAX + 1) })).status).toBe(413);
});

test("an endless stream is cancelled at the maximum size", async () => {
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel() {
      cancelled = true;
    },
  });
  const request = new Request(`http://localhost/v1/things/${ID}`, {
    method: "POST",
    headers: JSON_HEADERS,
    body: endless,
    duplex: "half",
  } as RequestInit);
  expect((await app.request(request)).status).toBe(413);
  expect(cancelled).toBe(true);
  expect(pulled).toBeLessThan(BODY_BYTES_MAX + 4 * 65_536);
});

test("a body without the JSON type gets 415 on routes with a body, and is ignored on other routes", async () => {
  const bytes = new TextEncoder().encode('{"name":"ab"}');
  expect((await post(bytes, {})).status).toBe(415);
  expect((await post(bytes, { "content-type": "text/plain" })).status).toBe(415);
  expect((await post(bytes, { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  for (const headers of [{}, JSON_HEADERS]) {
    expect((await post(null, headers, "/v1/bodyless/1")).status).toBe(200);
    expect((await post("", headers, "/v1/bodyless/1")).status).toBe(200);
  }
});

test("a NUL in the URI is refused", async () => {
  expect((await app.request("/v1/who?a=%00")).status).toBe(400);
  expect((await app.request("/v1/bodyless/a%00b", { method: "DELETE" })).status).toBe(400);
});

test("S-35: the client address is the address of the socket; X-Forwarded-For is used only behind trusted proxies", async () => {
  const behind = shelled({ trustedProxies: [parseCidr("10.0.0.0/8")!] });
  const who = async (remoteAddress: string | undefined, app = behind) =>
    await (await app.request("/v1/who", { headers: { "x-forwarded-for": "1.2.3.4, 198.51.100.9" } }, { remoteAddress }))
      .json();
  expect((await who("10.0.0.1")).address).toBe("198.51.100.9");
  expect((await who("192.0.2.1")).address).toBe("192.0.2.1");
  expect((await who("10.0.0.1", app)).address).toBe("10.0.0.1");
  expect(await who(undefined)).toEqual({ address: "unknown", principal: { kind: "anonymous" } });
});

test("the number of observed routes is bounded, whatever paths are requested", async () => {
  const seen: Observation[] = [];
  const watched = shelled({ observe: (observation) => seen.push(observation) });
  await watched.request("/v1/bodyless/1", { method: "DELETE" });
  await watched.request(`/v1/things/${ID}`, { method: "POST", headers: JSON_HEADERS, body: "{}" });
  await watched.request("/random/path");
  await watched.request("/v1/who?a=1&a=1");
  await watched.request("/v1/bug");
  expect(seen.map(({ method, route, status }) => [method, route, status])).toEqual([
    ["DELETE", "/v1/bodyless/:id", 204],
    ["POST", "/v1/things/:id", 400],
    ["GET", "unmatched", 404],
    ["GET", "/v1/who", 400],
    ["GET", "/v1/bug", 500],
  ]);
  for (const { duration_s } of seen) expect(duration_s).toBeGreaterThanOrEqual(0);
});
