// Some records have no name. Tests that commands find them by the prefix of the id that a table on a terminal shows.
import { expect, test } from "vitest";
import { SEARCH_HITS_MAX } from "../../src/contract/limits.ts";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const A = "a48d4841-0000-4000-8000-000000000001";
const B = "a48d4841-0000-4000-8000-000000000002";
const hit = (kind: string, id: string) => ({ kind, id, name: "node-join", hint: "running" });
const found = (...items: unknown[]): Server => ({ path }) =>
  path === "/v1/search"
    ? { body: { items } }
    : { body: { id: A, kind: {}, state: "unwinding", status: {}, progress: null } };
const asked = ({ asked }: Awaited<ReturnType<typeof opsctl>>) => asked.map(({ method, path }) => `${method} ${path}`);

test.each([
  [["operation", "abandon", "A48D4841"], "operation", `POST /v1/operations/${A}/abandon`],
  [["job", "show", "a48d4841-00"], "job", `GET /v1/system/jobs/${A}`],
])("%j acts on the only record of its kind whose id begins with the given prefix", async (argv, kind, request) => {
  const ran = await opsctl([...argv, "-o", "json"], { server: found(hit(kind, A), hit("instance", B)) });
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  expect(asked(ran)).toEqual(["GET /v1/search", request]);
  expect(ran.asked[0]!.query).toMatchObject({ kind });
});

test("a prefix that several operations have is refused, and the error lists them", async () => {
  const ran = await opsctl(["operation", "show", "a48d"], { server: found(hit("operation", A), hit("operation", B)) });
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(`a48d matches 2 operations; use one of these UUIDs:\n  ${A}  node-join running\n  ${B}`);
});

test("a prefix with more hits than one search returns is refused", async () => {
  const hits = Array.from({ length: SEARCH_HITS_MAX }, (_, at) => hit(at === 0 ? "operation" : "instance", A));
  const ran = await opsctl(["operation", "show", "a48d"], { server: found(...hits) });
  expect([ran.code, ran.err()]).toEqual([2, "error: a48d is the beginning of many ids; write more of the id\n"]);
});

test.each([
  [["operation", "show", "foo"], "error: no operation has the id foo; to list them, run: opsctl operation list\n"],
  [["job", "show", ""], 'error: no job has the id ""; to list them, run: opsctl job list\n'],
  [["api-key", "delete", "nope"], "error: no API key has the id nope; to list them, run: opsctl api-key list\n"],
])("the error of %j names the command that lists the ids", async (argv, message) => {
  const ran = await opsctl(argv, { server: () => ({ body: [{ id: A, description: "nope" }] }) });
  expect([ran.code, ran.err()]).toEqual([3, message]);
});

test("an API key is found by a prefix of its id", async () => {
  const server: Server = ({ method }) => method === "GET" ? { body: [{ id: A, description: "ci" }] } : { status: 204 };
  const ran = await opsctl(["api-key", "delete", "a48d4841"], { server });
  expect(asked(ran)).toEqual(["GET /v1/auth/api-keys", `DELETE /v1/auth/api-keys/${A}`]);
  expect(ran.out()).toBe(`Deleted API key ${A}\n`);
});
