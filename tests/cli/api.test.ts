// Tests how a command sends requests: retries, redirects, pages and the credential.
import { expect, test } from "vitest";
import { type FakeAnswer, type Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { MAC, node, NODE_ID } from "./records.ts";
import { tenantctl } from "./tenantctl/run.ts";

const BUSY: FakeAnswer = { status: 503, body: { message: "busy" }, headers: { "retry-after": "2" } };
const CUT = "cut";
const REFUSED = "refused";
type Outcome = FakeAnswer | typeof CUT | typeof REFUSED;

function inOrder(...answers: Outcome[]): Server {
  return () => {
    const next = answers.shift();
    if (next === undefined) throw new Error("one request too many");
    if (next === CUT) throw new TypeError("fetch failed");
    if (next === REFUSED) throw new TypeError("fetch failed", { cause: new Error("connection refused") });
    return next;
  };
}

test("a read is retried after a lost connection and after 503, with the pause that the server asks for", async () => {
  const ran = await opsctl(["cn", "list"], { server: inOrder(CUT, BUSY, { body: { items: [] } }) });
  expect(ran.code).toBe(0);
  expect(ran.slept_ms[0]).toBeLessThan(400);
  expect(ran.slept_ms[1]).toBeGreaterThanOrEqual(2_000);
});

test("after the third failure of a read, the command fails", async () => {
  const ran = await opsctl(["cn", "list"], { server: inOrder(BUSY, BUSY, BUSY) });
  expect(ran.code).toBe(7);
  expect(ran.err()).toBe("error: busy; try again in 2 s\n");
});

test("if the server is unreachable, the error names its address", async () => {
  const ran = await opsctl(["cn", "list"], {});
  expect(ran.code).toBe(7);
  expect(ran.asked).toHaveLength(3);
  expect(ran.err()).toBe("error: cannot reach http://127.0.0.1:8080: connection refused\n");
});

const LOST: Outcome[] = [CUT, REFUSED, REFUSED];

test.each([
  ["a POST", ["silo", "create", "acme"], "opsctl silo list"],
  ["a POST of the nested noun `cn boot`", ["cn", "boot", "decommission", MAC, "--yes"], "opsctl cn boot list"],
  ["a DELETE", ["api-key", "delete", NODE_ID], "opsctl api-key list"],
])("if the connection breaks after %s was sent, the error names the list command to run", async (_, argv, list) => {
  const ran = await opsctl(argv, { server: inOrder(...LOST) });
  expect(ran.code).toBe(7);
  expect(ran.err()).toBe(
    `error: cannot reach http://127.0.0.1:8080: connection refused
The server may have received the request before the connection broke. The attempts of one command count as one request, so nothing happened twice.
Before you run this command again, check its result with: ${list}
`,
  );
});

test.each<[string, string[], Outcome[]]>([
  ["the server was never reached", ["silo", "create", "acme"], [REFUSED, REFUSED, REFUSED]],
  ["the request only reads", ["cn", "list"], LOST],
])("the error names no list command if %s", async (_, argv, answers) => {
  const ran = await opsctl(argv, { server: inOrder(...answers) });
  expect(ran.err()).toMatch(/^error: cannot reach .*\n$/);
});

test("if the response to `tenantctl instance create` is lost, the error names the list command, too", async () => {
  let requests = 0;
  const server: Server = ({ method }) => {
    if (method !== "POST") return { body: { items: [] } };
    throw new TypeError("fetch failed", {
      cause: new Error(requests++ === 0 ? "connection reset" : "connection refused"),
    });
  };
  const id = NODE_ID;
  const argv = ["--image", id, "--subnet", id, "--tenant", id, "--project", id, "--cpu", "1", "--memory", "1GiB"];
  const ran = await tenantctl(["instance", "create", "--name", "web1", ...argv], { server });
  expect([ran.code, requests]).toEqual([7, 4]);
  expect(ran.err()).toContain("Before you run this command again, check its result with: tenantctl instance list");
});

test("after a response with a long Retry-After, the command does not wait, and its error states the time to wait", async () => {
  const ran = await opsctl(["cn", "list"], { server: inOrder({ ...BUSY, headers: { "retry-after": "11" } }) });
  expect(ran.code).toBe(7);
  expect(ran.slept_ms).toEqual([]);
  expect(ran.err()).toContain("try again in 11 s");
});

test("429 is not retried", async () => {
  const limited = { status: 429, body: { message: "slow down" }, headers: { "retry-after": "6" } };
  const ran = await opsctl(["cn", "disable", NODE_ID, "--yes"], { server: inOrder(limited) });
  expect(ran.code).toBe(1);
  expect(ran.err()).toBe("error: slow down; try again in 6 s\n");
});

test("a retried POST carries the same Idempotency-Key", async () => {
  const server = inOrder(CUT, { body: node() }, { body: node() });
  const ran = await opsctl(["cn", "disable", NODE_ID, "--yes"], { server });
  const keys = ran.asked.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatch(/^[\x21-\x7e]{1,255}$/);
  expect(keys[1]).toBe(keys[0]);
});

test("a 409 to a retried POST is retried, because the earlier attempt may still run; a 409 to the first attempt is final", async () => {
  const running: FakeAnswer = { status: 409, body: { message: "still running" }, headers: { "retry-after": "1" } };
  expect((await opsctl(["cn", "disable", NODE_ID, "--yes"], { server: inOrder(CUT, running, { body: node() }) })).code)
    .toBe(0);
  expect((await opsctl(["cn", "disable", NODE_ID, "--yes"], { server: inOrder(running) })).code).toBe(5);
});

test("a DELETE whose first response was lost succeeds if the retry gets 404", async () => {
  const gone: FakeAnswer = { status: 404, body: { message: "Not Found" } };
  expect(
    (await opsctl(["api-key", "delete", "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012"], { server: inOrder(CUT, gone) })).code,
  ).toBe(0);
  expect((await opsctl(["api-key", "delete", "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012"], { server: inOrder(gone) })).code)
    .toBe(3);
});

test("a redirect is not followed, because it would send the credential to another server", async () => {
  const ran = await opsctl(["cn", "list"], {
    server: inOrder({ status: 307, headers: { location: "https://elsewhere.example/" } }),
  });
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("https://elsewhere.example/");
});

test("a response that is not JSON is an error", async () => {
  const ran = await opsctl(["cn", "list"], { server: inOrder({ text: "<html>" }) });
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("not JSON");
});

test("`cn list` follows next_page to the end, and sends its filter with every request", async () => {
  const server = inOrder(
    { body: { items: [node({ hostname: "a" })], next_page: "t1" } },
    { body: { items: [node({ hostname: "b" })], next_page: "t2" } },
    { body: { items: [node({ hostname: "c" })] } },
  );
  const ran = await opsctl(["cn", "list", "--state", "pending", "--json"], { server });
  expect(JSON.parse(ran.out()).items.map((item: { hostname: string }) => item.hostname)).toEqual(["a", "b", "c"]);
  expect(ran.asked.map(({ query }) => query.page_token)).toEqual([undefined, "t1", "t2"]);
  expect(ran.asked.every(({ query }) => query.state === "pending" && query.limit === "50")).toBe(true);
});

test("the API key is sent in the Authorization header, and is not in the path, the query or the output", async () => {
  const ran = await opsctl(["cn", "list", "--api-key", "opsk_flag"], { server: inOrder({ body: { items: [] } }) });
  expect(ran.asked[0]!.headers.authorization).toBe("Bearer opsk_flag");
  expect(JSON.stringify([ran.asked[0]!.path, ran.asked[0]!.query])).not.toContain("opsk_");
  expect(ran.out() + ran.err()).not.toContain("opsk_");
});
