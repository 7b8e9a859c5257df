// Tests the headers of every answer, requests with ids of another tenant, and the audit of changes. docs/reliability.md
// S-06, S-33, S-34, S-40.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { acceptedBodies } from "../api/bodies.ts";
import { readRoutes, type RouteDescription } from "../api/description.ts";
import { fill, makeObjects, type Objects, selectorsOf } from "../api/objects.ts";

let t: TestControlPlane;
let routes: readonly RouteDescription[];
let own: Objects;
let foreign: Objects;
let key: string;

beforeAll(async () => {
  t = await openTestControlPlane();
  routes = readRoutes((await t.call("GET", "/openapi.json")).body);
  own = await makeObjects(t);
  // Creates the objects of another tenant, except an instance and the objects of an instance.
  foreign = await makeObjects(t, { instance: "", disk: "", nic: "", port_forward: "" });
  const body = { description: "of the tenant", scope: "full" };
  key = okOf(await t.call("POST", `/v1/tenants/${own.tenant}/api-keys`, { body })).secret;
}, 120_000);
afterAll(() => t.close());

const idsIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

describe("S-06: all ids of a request are checked", () => {
  test("a path with another tenant's id in any position gets 404, or 403 if only operators may use the route", async () => {
    let asked = 0;
    for (const route of routes) {
      const ids = idsIn(route.path).filter((name) => foreign[name] !== undefined);
      if (ids.length < 2 || !ids.includes("tenant_id")) continue;
      for (const stranger of ids) {
        const path = fill(route.path, { ...own, [stranger]: foreign[stranger]! }).replace(
          /\{\w+\}/g,
          () => randomUUID(),
        );
        const body = route.body === null ? undefined : acceptedBodies[route.name]?.();
        const answer = await t.call(route.method, path, { key, body });
        // Only operators may use silos: a tenant's key gets 403 before any lookup.
        expect([403, 404], `${route.name} with a foreign ${stranger}`).toContain(answer.status);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(10);
  });

  test("a selector of the caller's tenant together with a selector of another tenant gets 404", async () => {
    for (const [tenant, project] of [[own.tenant, foreign.project], [foreign.tenant, own.project]]) {
      for (const noun of ["vpcs", "floating-ips", "instances"]) {
        const answer = await t.call("GET", `/v1/${noun}?tenant=${tenant}&project=${project}`, { key });
        expect([noun, answer.status]).toEqual([noun, 404]);
      }
    }
  });

  test("an object of another tenant in a body is refused like an object that does not exist", async () => {
    const image = okOf(
      await t.call("POST", `/v1/tenants/${own.tenant}/images`, {
        key,
        body: acceptedBodies["POST /v1/images"]?.(),
      }),
    );
    const instance = { ...acceptedBodies["POST /v1/instances"]?.(), image_id: image.id, primary_subnet_id: own.subnet };
    const plain = { ...instance, extra_nics: [], ssh_key_ids: [], mac: null };
    const strangers: [string, string, Record<string, unknown>][] = [
      ["PUT", `/v1/subnets/${own.subnet}/route-table`, { route_table_id: foreign.route_table }],
      ["POST", `/v1/routes?route_table=${own.route_table}`, {
        name: "r",
        destination: "192.0.2.0/24",
        target: { kind: "nat_gateway", nat_gateway_id: foreign.nat_gateway },
      }],
      ["POST", `/v1/instances?tenant=${own.tenant}&project=${own.project}`, {
        ...plain,
        primary_subnet_id: foreign.subnet,
      }],
      ["POST", `/v1/instances?tenant=${own.tenant}&project=${own.project}`, {
        ...plain,
        extra_nics: [{ subnet_id: foreign.subnet, name: "second" }],
      }],
    ];
    for (const [method, path, body] of strangers) {
      const answer = await t.call(method, path, { key, body });
      expect([400, 404], path).toContain(answer.status);
      const absent = JSON.parse(
        JSON.stringify(body).replaceAll(
          new RegExp(Object.values(foreign).filter((id) => id !== "").join("|"), "g"),
          randomUUID(),
        ),
      );
      const like = await t.call(method, path, { key, body: absent });
      const without = ({ status, text }: Answer) => [status, text.replace(/[0-9a-f-]{36}/g, "")];
      expect(without(answer)).toEqual(without(like));
    }
  });
});

const ORIGINS = [
  ...["null", "*", "https://evil.example", "http://localhost", "http://localhost:3000", "http://127.0.0.1:8080"],
  ...[
    "https://berth.test",
    "http://berth.test",
    "http://berth.test.evil.example",
    "https://evil-berth.test",
    "file://",
  ],
  ...["chrome-extension://abcdef", "https://sub.berth.test", "https://[::1]", "http://192.0.2.10", "ftp://berth.test"],
  ...["https://user:pw@berth.test", "https://xn--e1afmkfd.example", "data:", "https://berth.test:443"],
];

describe("S-33: no answer has a CORS header, whatever the origin of the request:", () => {
  test.each(ORIGINS)("%s", async (origin) => {
    for (const path of ["/v1/system/cns", "/v1/auth/login", "/no/such/path"]) {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const asks = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
        const { status, headers } = await t.call(method, path, { headers: { origin, ...asks } });
        expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect([...headers.values()].filter((value) => origin !== "*" && value.includes(origin))).toEqual([]);
        if (method === "OPTIONS") expect([404, 405], path).toContain(status);
      }
    }
  });
});

test("S-34: every answer forbids sniffing, framing and scripts, and only the page /docs may be cached", async () => {
  const kinds = new Map<string, string[]>();
  const check = (name: string, { headers }: Answer) => {
    const policy = headers.get("content-security-policy") ?? "none";
    expect([name, headers.get("x-content-type-options")]).toEqual([name, "nosniff"]);
    expect([name, policy]).toEqual([name, expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/)]);
    const kind = `${headers.get("content-type")?.split(";")[0]} ${headers.get("cache-control")}`;
    kinds.set(kind, [...kinds.get(kind) ?? [], name]);
  };
  let successes = 0;
  for (const route of routes) {
    const path = fill(route.path, own).replace(/\{\w+\}/g, () => randomUUID()) + selectorsOf(route, own);
    check(route.name, await t.call(route.method, path, { key: null }));
    if (route.method !== "GET") continue;
    const answer = await t.call("GET", path);
    check(route.name, answer);
    if (answer.status === 200) successes += 1;
  }
  expect(successes).toBeGreaterThan(50);
  // Answers that are not in the list below have no-store, and are JSON or have no content type. GET routes were called
  // without and with a key, other routes only without a key.
  const others = [...kinds].filter(([kind]) => !["application/json no-store", "undefined no-store"].includes(kind));
  expect(Object.fromEntries(others)).toEqual({
    "text/html no-cache": ["GET /docs", "GET /docs"],
    "text/plain no-store": ["GET /metrics"],
  });
  const docs = (await t.call("GET", "/docs")).headers.get("content-security-policy") ?? "";
  expect(docs).not.toMatch(/unsafe|script-src|\*|https?:/);
});

/** Reports of agents are not audited. */
const UNAUDITED = [
  "POST /v1/agent/heartbeat",
  "POST /v1/agent/status",
  "POST /v1/agent/capacity",
];

/** Requests of this test that succeed without an effect, for example dry runs. */
const WITHOUT_EFFECT = [
  "DELETE /v1/cns/{server_uuid}",
  "POST /v2/cn-boot-roster/converge",
  "POST /v1/cn-drains",
  "POST /v1/cn-upgrades",
];

test("S-40: the audit chain contains the id of every request that changed something", async () => {
  /** The routes of successful requests, by request id. */
  const changed = new Map<string, string>();
  const made = await makeObjects(t, {
    instance: own.instance!,
    disk: own.disk!,
    nic: own.nic!,
    port_forward: own.port_forward!,
  });
  for (const route of routes.filter(({ method, path }) => method !== "GET" && !path.startsWith("/lab/"))) {
    if (UNAUDITED.includes(route.name) || /login|refresh|logout|explain|verify/.test(route.path)) continue;
    const request_id = randomUUID();
    const path = fill(route.path, made).replace(/\{\w+\}/g, () => randomUUID()) + selectorsOf(route, made);
    const body = route.body === null ? undefined : acceptedBodies[route.name]?.(made);
    const sent = route.body?.type === "array" ? [body] : body;
    const answer = await t.call(route.method, path, { body: sent, headers: { "x-request-id": request_id } });
    if (answer.status < 300) changed.set(request_id, route.name);
  }
  const unnamed = async () => {
    const { events } = okOf(await t.call("GET", "/v1/audit/events?limit=1000"));
    const named = new Set(events.map((event: { request_id?: string }) => event.request_id));
    const missing = [...changed].filter(([request_id]) => !named.has(request_id)).map(([, route]) => route);
    return missing.filter((route) => !WITHOUT_EFFECT.includes(route));
  };
  // Events are added to the chain a moment after the change.
  await expect.poll(unnamed, { timeout: 20_000 }).toEqual([]);
  // The check above skips a route whose request was refused. The snapshot lists the routes that were not skipped.
  expect([...changed.values()].filter((route) => !WITHOUT_EFFECT.includes(route)).sort()).toMatchSnapshot();
}, 120_000);
