// Sends requests with invalid bodies, fields, path parameters and query parameters to every route. The requests are
// generated from the API description. Each request must be refused with an error body that reveals no internals, and
// must write nothing (docs/reliability.md, S-05, S-18 and S-28).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  type CallOptions,
  okOf,
  openTestControlPlane,
  type TestControlPlane,
} from "../support/control-plane.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import { encodePageToken } from "../../src/lib/ids/page-token.ts";
import { addUpload } from "../compute/upload.ts";
import { badBodies, type BadCase, badParameters } from "./bad-cases.ts";
import { acceptedBodies } from "./bodies.ts";
import { makeObjects, type Objects, selectorsOf } from "./objects.ts";
import { readRoutes, type RouteDescription } from "./description.ts";

let t: TestControlPlane;
let nodeKey: string;
let existing: Objects;
let routes: readonly RouteDescription[];

beforeAll(async () => {
  t = await openTestControlPlane();
  const node = await t.approvedNode();
  nodeKey = node.api_key;
  await t.call("POST", "/v1/agent/heartbeat", { key: nodeKey });
  const [{ id }] = (await t.call("GET", "/v1/operations")).body;
  await t.call("GET", `/v1/operations/${id}?wait=10`);
  const mac = "02:be:57:00:00:01";
  okOf(await t.call("POST", "/v2/booter/seen", { body: { mac } }));
  existing = {
    ...await makeObjects(t),
    mac,
    cn_id: node.server_uuid,
    server_uuid: node.server_uuid,
    id,
    key: "imds.hop_limit_default",
    seq: "0",
  };
  const upload_id = randomUUID();
  await addUpload(t, upload_id, existing.tenant_id!);
  existing = { ...existing, upload_id };
  routes = readRoutes((await t.call("GET", "/openapi.json")).body);
});
afterAll(() => t.close());

/** Tables that may change during any request. A background worker fills the tables of the audit chain. */
const SIGNALS = [
  "rate_bucket",
  "api_key_use",
  "audit_event",
  "audit_head",
  "webhook_cursor",
  "webhook_queue",
  "webhook_delivery",
];

const keyOf = (route: RouteDescription) => (route.path.startsWith("/v1/agent/") ? nodeKey : undefined);
const pathOf = (route: RouteDescription, given: Readonly<Record<string, string>> = {}) =>
  route.path.replace(/\{(\w+)\}/g, (_all, name) => given[name] ?? existing[name] ?? randomUUID());
const targetOf = (route: RouteDescription, given?: Readonly<Record<string, string>>, query?: string) =>
  pathOf(route, given) + selectorsOf(route, existing, query);

/** Returns the defect of an answer that must be a refusal, or null if it has no defect. */
function flaw(answer: Answer, expected: BadCase["expected"]): string | null {
  const { status, headers, text, body } = answer;
  if (!expected.statuses.includes(status)) return `status ${status}: ${text.slice(0, 200)}`;
  if (!headers.get("content-type")?.startsWith("application/json")) {
    return `content type ${headers.get("content-type")}`;
  }
  const keys = Object.keys(body).filter((key) => key !== "error_code").sort().join();
  if (keys !== "message,request_id") return `body keys ${keys}`;
  if (body.request_id !== headers.get("x-request-id")) return "another request id in the header";
  if (/\.ts\b|\bat \w+ \(|node_modules|select |insert |zod|postgres|<(?!uuid>)\w+>/i.test(text)) {
    return `reveals too much: ${text}`;
  }
  if (expected.names !== undefined && !body.message.includes(expected.names)) {
    return `does not name ${expected.names}: ${text}`;
  }
  return null;
}

async function flaws(cases: readonly BadCase[], send: (each: BadCase) => Promise<Answer>): Promise<string[]> {
  const found = await Promise.all(cases.map(async (each) => {
    const wrong = flaw(await send(each), each.expected);
    return wrong === null ? [] : [`${each.name}: ${wrong}`];
  }));
  return found.flat();
}

/** `METHOD /path status` of every answer. */
const answered = new Set<string>();

async function ask(route: RouteDescription, target: string, options: CallOptions): Promise<Answer> {
  const answer = await t.call(route.method, target, options);
  answered.add(`${route.name} ${answer.status}`);
  return answer;
}

/** Returns the answers with a status that their route's description does not list. */
function undescribed(): string[] {
  return [...answered].filter((each) => {
    const [method = "", path = "", status = ""] = each.split(" ");
    return !routes.find(({ name }) => name === `${method} ${path}`)?.statuses.includes(status);
  });
}

async function unchanged(before: Dump): Promise<void> {
  expect(changedRows(before, await dumpTables(t.db), SIGNALS)).toEqual([]);
}

test("S-05, S-28: no route accepts an invalid body", async () => {
  const before = await dumpTables(t.db);
  let tried = 0;
  for (const route of routes.filter(({ body }) => body !== null)) {
    const accepted = acceptedBodies[route.name];
    if (accepted === undefined) throw new Error(`tests/api/bodies.ts has no accepted body for ${route.name}`);
    const cases = badBodies({ ...route, accepted: accepted() });
    tried += cases.length;
    const given = (each: BadCase): CallOptions => ({ key: keyOf(route), ...each.options });
    const found = await flaws(cases, (each) => ask(route, targetOf(route), given(each)));
    expect([route.name, found]).toEqual([route.name, []]);
  }
  expect(tried).toBeGreaterThan(250);
  expect(undescribed()).toEqual([]);
  await unchanged(before);
});

test("no route accepts an invalid path or query parameter", async () => {
  const before = await dumpTables(t.db);
  let tried = 0;
  for (const route of routes) {
    const body = route.body === null ? undefined : acceptedBodies[route.name]?.();
    const cases = badParameters(route);
    tried += cases.length;
    const found = await flaws(cases, (each) => {
      return ask(route, targetOf(route, each.at, each.query), { key: keyOf(route), body });
    });
    expect([route.name, found]).toEqual([route.name, []]);
  }
  expect(tried).toBeGreaterThan(80);
  expect(undescribed()).toEqual([]);
  await unchanged(before);
});

test("every list with pages refuses a page token with invalid values", async () => {
  const values = ["id", "mac", "seq", "server_uuid", "created_at", "registered_at"].map((name) => [name, "\0"]);
  const page_token = encodePageToken(Object.fromEntries(values));
  const lists = routes.filter(({ parameters }) => parameters.some(({ name }) => name === "page_token"));
  const statuses = await Promise.all(lists.map(async (route) => {
    const { status } = await ask(route, targetOf(route, {}, `?page_token=${page_token}`), { key: keyOf(route) });
    return [route.name, status];
  }));
  // The list of an instance's disks has no pages.
  const expected = lists.map(({ name }) => [name, name === "GET /v1/disks" ? 200 : 400]);
  expect(statuses).toEqual(expected);
  expect(lists.length).toBeGreaterThan(20);
});

test("the API description allows null in every optional field", () => {
  const optional = routes.flatMap(({ name, body }) =>
    Object.entries(body?.properties ?? {}).filter(([field]) => !(body?.required ?? []).includes(field))
      .map(([field, schema]) => ({ field: `${name} ${field}`, nullable: schema.nullable ?? schema.type === undefined }))
  );
  expect(optional.length).toBeGreaterThan(10);
  expect(optional.filter(({ nullable }) => !nullable)).toEqual([]);
});

test("malformed JSON gets 400 even on a route without a request body", async () => {
  const before = await dumpTables(t.db);
  for (const route of routes.filter(({ body, method }) => body === null && method !== "GET")) {
    const answer = await t.call(route.method, targetOf(route), { key: keyOf(route), text: "{" });
    expect([route.name, answer.status]).toEqual([route.name, 400]);
  }
  await unchanged(before);
});

describe("methods and paths", () => {
  const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

  test("an unsupported method gets 405, and the header Allow lists the supported methods", async () => {
    const before = await dumpTables(t.db);
    const byPath = Map.groupBy(routes, ({ path }) => path);
    for (const [path, of] of byPath) {
      const has = of.map(({ method }) => method);
      for (const method of METHODS.filter((each) => !has.includes(each))) {
        const answer = await t.call(method, pathOf({ ...of[0]!, path }));
        expect([path, method, flaw(answer, { statuses: [405] })]).toEqual([path, method, null]);
        const allowed = answer.headers.get("allow")?.split(", ").filter((each) => each !== "HEAD").sort();
        expect(allowed).toEqual([...has].sort());
      }
    }
    await unchanged(before);
  });

  test.each([
    "/v1",
    "/v1/none",
    "/v1/system/cns/",
    "/V1/HEALTH",
    "/v1/health/",
    "/v1//health",
    "/v1/%2e%2e/v1/health/none",
    "/v1/cns/..%2f..%2fetc%2fpasswd/disable/none",
    "/.env",
    "/v1/system/cns/%",
  ])("%s gets an error body with 400, 404 or 405", async (path) => {
    for (const method of METHODS) {
      const answer = await t.call(method, path);
      expect([method, flaw(answer, { statuses: [400, 404, 405] })]).toEqual([method, null]);
    }
  });

  test("a URI of more than 8 KiB gets 414", async () => {
    const answer = await t.call("GET", `/v1/system/cns?page_token=${"a".repeat(9_000)}`);
    expect(flaw(answer, { statuses: [414] })).toBeNull();
  });
});

test("a caller's request id is kept when it is a UUID and replaced when it is not", async () => {
  const mine = randomUUID();
  expect((await t.call("GET", "/none", { headers: { "x-request-id": mine } })).body.request_id).toBe(mine);
  for (const other of ["1", `${mine} x`, "<script>", "a".repeat(5_000)]) {
    const { body } = await t.call("GET", "/none", { headers: { "x-request-id": other } });
    expect(body.request_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  }
});
