// Tests health, readiness, metrics, the API description, and the dev clock.
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

type Operation = {
  readonly summary?: string;
  readonly "x-rights"?: string;
  readonly responses: Record<string, unknown>;
  readonly security: readonly unknown[];
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
  }[];
};

let t: TestControlPlane;
let operations: readonly [string, Operation][];
beforeAll(async () => {
  t = await openTestControlPlane();
  const { paths } = (await anonymous("/openapi.json")).body;
  operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ])
  );
});
afterAll(() => t.close());

const anonymous = (path: string, options = {}) => t.call("GET", path, { key: null, ...options });

test("health shows the version to a caller without a key", async () => {
  expect(await anonymous("/v1/health")).toMatchObject({ status: 200, body: { status: "ok", version: VERSION } });
});

test("/readyz gets 200 while the database answers", async () => {
  expect((await anonymous("/readyz")).status).toBe(200);
});

describe("S-45: /metrics", () => {
  test.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])(
    "needs no key if the client's address is %s",
    async (address) => {
      const answer = await anonymous("/metrics", { address });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
      expect(answer.text).toMatch(/^http_requests_total\{method="GET",route="\/v1\/health",status="200"\} \d+$/m);
    },
  );

  test("checks a key that is sent, even from the loopback interface", async () => {
    const headers = { authorization: "Bearer garbage" };
    expect((await anonymous("/metrics", { address: "127.0.0.1", headers })).status).toBe(401);
  });

  test("needs a key despite a forged X-Forwarded-For", async () => {
    expect((await anonymous("/metrics", { headers: { "x-forwarded-for": "127.0.0.1" } })).status).toBe(401);
  });

  test("needs a key if an untrusted proxy on the same machine forwards the request, since the client may be elsewhere", async () => {
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
      const answer = await anonymous("/metrics", { address: "127.0.0.1", headers: { [name]: "203.0.113.9" } });
      expect([name, answer.status]).toEqual([name, 401]);
    }
  });

  test("names routes by pattern, never by the requested path", async () => {
    const { server_uuid } = await t.register();
    await t.call("GET", `/v1/system/cns/${server_uuid}`);
    await t.call("GET", "/no/such/path-with-a-secret");
    const { text } = await anonymous("/metrics", { address: "127.0.0.1" });
    expect(text).toContain('route="/v1/system/cns/:cn_id"');
    expect(text).toContain('route="unmatched"');
    expect(text).not.toContain(server_uuid);
    expect(text).not.toContain("path-with-a-secret");
  });
});

describe("the API description", () => {
  test("is OpenAPI 3.0.3 and valid", async () => {
    const { body } = await anonymous("/openapi.json");
    expect(body.openapi).toBe("3.0.3");
    expect(body.info.version).toBe(VERSION);
    expect(await new Validator().validate(body)).toEqual({ valid: true });
  });

  test("has the summary, permissions, successful statuses and errors of every route", () => {
    const flaws = operations.flatMap(([route, { summary, responses, tags, "x-rights": rights }]) => {
      const statuses = Object.keys(responses);
      return [
        ...(summary ? [] : [`${route}: no summary`]),
        ...(rights ? [] : [`${route}: no x-rights`]),
        ...(tags?.length ? [] : [`${route}: no tag`]),
        ...(statuses.some((status) => /^(?:101|2\d\d|302)$/.test(status)) ? [] : [`${route}: no success`]),
        ...(["400", "401", "500", "503"].every((each) => statuses.includes(each)) ? [] : [`${route}: no refusals`]),
        ...(statuses.some((status) => !/^\d{3}$/.test(status)) ? [`${route}: a range of statuses`] : []),
      ];
    });
    expect(flaws).toEqual([]);
    expect(operations.length).toBeGreaterThan(30);
  });

  test("has the optional header Prefer at exactly the routes that begin an operation or may wait for nodes", () => {
    const prefers = ([, { parameters = [] }]: (typeof operations)[number]) =>
      parameters.some(({ name, description = "" }) => name === "Prefer" && description.includes("wait=N"));
    const waits = operations.filter(prefers).map(([route]) => route);
    expect(waits).toContain("POST /v1/firewall-rules");
    const begins = operations.filter(([, { responses }]) => "202" in responses).map(([route]) => route);
    const shown = operations.filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === "Prefer"));
    expect(shown.map(([route]) => route).sort()).toEqual([...begins, ...waits].sort());
  });

  test.each([
    ["If-Match", "412"],
    ["Idempotency-Key", "422"],
  ])(
    "has the optional header %s at exactly the routes that can answer with %s",
    (name, status) => {
      const where = (is: (operation: Operation) => boolean) =>
        operations.filter(([, each]) => is(each)).map(([at]) => at);
      const honoured = where(({ responses }) => status in responses);
      expect(honoured).not.toEqual([]);
      const header = { name, in: "header", required: false };
      expect(where(({ parameters = [] }) => parameters.some((each) => each.name === name))).toEqual(honoured);
      for (const [, { parameters = [] }] of operations) {
        for (const each of parameters.filter((each) => each.name === name)) expect(each).toMatchObject(header);
      }
    },
  );

  test("marks exactly the routes that need no credential", async () => {
    const open = operations.filter(([, { security }]) => security.length === 0).map(([route]) => route);
    for (const [route] of operations) {
      const [method = "", path = ""] = route.split(" ");
      const concrete = path.replace(/\{[^}]+\}/g, "00000000-0000-7000-8000-000000000000");
      const isOpen =
        (await t.call(method, concrete, { key: null, text: method === "GET" ? undefined : "{}" })).status !== 401;
      expect([route, isOpen]).toEqual([route, open.includes(route)]);
    }
  });

  test("is also available as a page, which shows every route and loads no other resource", async () => {
    const answer = await anonymous("/docs");
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(answer.text).not.toMatch(/<script|(?:src|href)="(?:https?:)?\/\//);
    const words = answer.text.replace(/<[^>]+>/g, "");
    for (const [route] of operations) expect(words).toContain(route.split(" ")[1]);
  });
});

describe("the dev clock", () => {
  const advance = (seconds: unknown) => t.call("POST", "/lab/clock", { key: null, body: { seconds } });

  test("moves forward by the given seconds in every process", async () => {
    const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
    const first = (await advance(0)).body.now;
    const second = (await other.call("POST", "/lab/clock", { key: null, body: { seconds: 7_200 } })).body.now;
    const third = (await advance(0)).body.now;
    expect(Date.parse(second) - Date.parse(first)).toBeGreaterThanOrEqual(7_200_000);
    expect(Date.parse(third)).toBeGreaterThanOrEqual(Date.parse(second));
    await other.close();
  });

  test.each([-1, "1", null, 1e300, 315_360_001])("refuses %j", async (seconds) => {
    expect((await advance(seconds)).status).toBe(400);
  });

  test("does not exist without BERTH_LAB", async () => {
    const other = await openTestControlPlane({ databaseUrl: t.databaseUrl, env: { BERTH_LAB: "0" } });
    const headers = { "x-request-id": "7f1c2a34-5b6d-4e8f-9a0b-1c2d3e4f5a6b" };
    const given = { key: null, body: { seconds: 1 }, headers };
    const answer = await other.call("POST", "/lab/clock", given);
    expect(answer.status).toBe(404);
    expect(answer.text).toBe((await other.call("POST", "/lab/other", given)).text);
    expect(Object.keys((await other.call("GET", "/openapi.json")).body.paths)).not.toContain("/lab/clock");
    await other.close();
  });
});

describe("every answer", () => {
  test.each(["/v1/health", "/v1/system/cns", "/docs", "/no/such/path", "/v1/config/none"])(
    "of %s has a request id and the security headers, and allows no other origin",
    async (path) => {
      const { headers } = await t.call("GET", path, { headers: { origin: "https://example.org" } });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.has("cache-control")).toBe(true);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    },
  );
});
