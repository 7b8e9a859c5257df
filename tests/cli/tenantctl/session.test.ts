// Tests password logins: tenantctl saves the tokens, renews them, and deletes them at logout.
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENDPOINT, fakeEnvironment, type Server } from "../fake-environment.ts";
import { PROJECT, TENANT, VPC } from "./records.ts";
import { jwt, requestsOf, tenantctl } from "./run.ts";

const NOW_MS = Date.parse("2026-11-21T10:00:00Z");
const ENV = { TENANTCTL_ENDPOINT: ENDPOINT };

/** Returns the pair of tokens with the number `n`. The access token is valid for 15 minutes from `from_ms`. */
function tokens(n: number, from_ms = NOW_MS) {
  return {
    access_token: jwt({ sub: "u", tenant_id: TENANT, n }),
    refresh_token: `refresh-${n}`,
    access_expires_at: new Date(from_ms + 900_000).toISOString(),
    refresh_expires_at: new Date(from_ms + 86_400_000).toISOString(),
  };
}

/** Returns a server that issues pairs of tokens in order, and accepts only the newest access token. */
function identity(): Server {
  let current = 0;
  return ({ path, body, headers }) => {
    const secret = body as Record<string, string> | undefined;
    if (path === "/v1/auth/login") {
      const is_ada = secret?.username === "ada" && secret.password === " pass word ";
      return is_ada ? { body: tokens(++current) } : { status: 401, body: { message: "wrong name or password" } };
    }
    if (path === "/v1/auth/refresh") {
      if (secret?.refresh_token !== `refresh-${current}`) return { status: 401, body: { message: "no session" } };
      return { body: tokens(++current) };
    }
    if (headers.authorization !== `Bearer ${tokens(current).access_token}`) {
      return { status: 401, body: { message: "no" } };
    }
    if (path === "/v1/auth/logout") {
      current = NaN;
      return { status: 204 };
    }
    return { body: { items: [VPC] } };
  };
}

const LIST = ["vpc", "list", "--project", PROJECT, "--no-headers"];

async function loggedIn(server: Server): Promise<{ home_dir: string; file: string }> {
  const ran = await tenantctl(["login", "--username", "ada"], { env: ENV, server, typed: " pass word " });
  expect([ran.code, ran.out()]).toEqual([0, `Logged in to ${ENDPOINT} as ada\n`]);
  expect(ran.err()).toBe("Password: \n");
  return { home_dir: ran.home_dir, file: join(ran.home_dir, ".config/tenantctl/login.json") };
}

test("login asks for the password and saves only the tokens; only the owner can read the file", async () => {
  const { file, home_dir } = await loggedIn(identity());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, "utf8");
  expect(JSON.parse(text)).toEqual({ endpoint: ENDPOINT, username: "ada", ...tokens(1) });
  const env = await tenantctl(["env", "-o", "json"], { env: {}, home_dir, wall_ms: NOW_MS });
  expect(JSON.parse(env.out())).toEqual({
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_ACCESS_TOKEN: tokens(1).access_token,
  });
});

test("a password from standard input keeps its spaces and loses its line end", async () => {
  const argv = ["login", "--username", "ada", "--password-stdin"];
  const ran = await tenantctl(argv, { env: ENV, isTTY: false, server: identity(), typed: " pass word \n" });
  expect(JSON.parse(ran.out())).toEqual({ endpoint: ENDPOINT, username: "ada", profile: "default" });
  expect(ran.asked[0]!.body).toEqual({ username: "ada", password: " pass word " });
});

test("if the server rejects a login, the error does not contain the password, and nothing is saved", async () => {
  const ran = await tenantctl(["login", "--username", "ada"], { env: ENV, server: identity(), typed: "hunter22" });
  expect([ran.code, ran.asked.length]).toEqual([4, 1]);
  expect(ran.err()).toContain("error: wrong name or password");
  expect(ran.err()).not.toContain("hunter22");
  await expect(stat(join(ran.home_dir, ".config/tenantctl/login.json"))).rejects.toThrow();
});

test.each([
  [["login", "--password-stdin"]],
  [["login", "--username", "ada", "--api-key-stdin"]],
  [["login", "--username", "ada", "--api-key", "k"]],
])("conflicting or incomplete login options are a usage error: %j", async (argv) => {
  const ran = await tenantctl(argv, { env: ENV });
  expect([ran.code, ran.asked]).toEqual([2, []]);
});

test("without a terminal, login does not ask for the password, and the error names --password-stdin", async () => {
  const ran = await tenantctl(["login", "--username", "ada"], { env: ENV, isTTY: false });
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain("pass --password-stdin");
});

test.each([
  { left_ms: 60_000, asks: ["GET /v1/vpcs"] },
  { left_ms: 59_999, asks: ["POST /v1/auth/refresh", "GET /v1/vpcs"] },
  { left_ms: -1, asks: ["POST /v1/auth/refresh", "GET /v1/vpcs"] },
])("only a token with less than 60 s left is renewed: $left_ms ms left", async ({ left_ms, asks }) => {
  const server = identity();
  const { home_dir, file } = await loggedIn(server);
  const ran = await tenantctl(LIST, { env: {}, home_dir, server, wall_ms: NOW_MS + 900_000 - left_ms });
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran).map((request) => request.split("?")[0])).toEqual(asks);
  expect(JSON.parse(await readFile(file, "utf8")).refresh_token).toBe(`refresh-${asks.length}`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("the session's token selects the tenant", async () => {
  const server = identity();
  const { home_dir } = await loggedIn(server);
  const ran = await tenantctl(LIST, { env: {}, home_dir, server, wall_ms: NOW_MS });
  expect(ran.asked[0]!.query.tenant).toBe(TENANT);
});

test("a token that the server rejects before the token expires is renewed once", async () => {
  const server = identity();
  const { home_dir, file } = await loggedIn(server);
  const saved = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...saved, access_token: jwt({ tenant_id: TENANT, stale: true }) }));
  const ran = await tenantctl(LIST, { env: {}, home_dir, server, wall_ms: NOW_MS });
  expect(requestsOf(ran).map((request) => request.split("?")[0])).toEqual([
    "GET /v1/vpcs",
    "POST /v1/auth/refresh",
    "GET /v1/vpcs",
  ]);
  expect(ran.code).toBe(0);
});

test.each([
  ["logs out", null],
  ["saves a key", JSON.stringify({ endpoint: ENDPOINT, api_key: "opsk_other", tenant_id: TENANT })],
])("if another command %s while the token is renewed, the renewed token is not saved", async (_, theirs) => {
  const real = identity();
  const { home_dir, file } = await loggedIn(real);
  const server: Server = async (asked, signal) => {
    const answer = await real(asked, signal);
    if (asked.path !== "/v1/auth/refresh") return answer;
    await (theirs === null ? rm(file) : writeFile(file, theirs));
    return answer;
  };
  const ran = await tenantctl(LIST, { env: {}, home_dir, server, wall_ms: NOW_MS + 900_000 });
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(await readFile(file, "utf8").catch(() => null)).toBe(theirs);
});

test("after the session expired, a command asks for a new login", async () => {
  const server = identity();
  const { home_dir } = await loggedIn(server);
  const over: Server = () => ({ status: 401, body: { message: "no" } });
  const ran = await tenantctl(LIST, { env: {}, home_dir, server: over, wall_ms: NOW_MS });
  expect(ran.code).toBe(4);
  expect(ran.err()).toBe("error: the session has expired; run: tenantctl login --username ada\n");
});

test("logout ends the session at the server and deletes the saved login", async () => {
  const server = identity();
  const { home_dir, file } = await loggedIn(server);
  const ran = await tenantctl(["logout"], { env: {}, home_dir, server });
  expect(requestsOf(ran)).toEqual(["POST /v1/auth/logout"]);
  expect(ran.asked[0]!.headers.authorization).toBe(`Bearer ${tokens(1).access_token}`);
  expect([ran.out(), ran.code]).toEqual(["Logged out; the session has ended\n", 0]);
  await expect(stat(file)).rejects.toThrow();
  expect((await tenantctl(["logout"], { env: {}, home_dir })).out()).toBe("You are not logged in\n");
});

test("logout renews an expired access token to end the session", async () => {
  const server = identity();
  const { home_dir, file } = await loggedIn(server);
  const saved = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...saved, access_token: "stale" }));
  const ran = await tenantctl(["logout"], { env: {}, home_dir, server });
  expect(requestsOf(ran)).toEqual(["POST /v1/auth/logout", "POST /v1/auth/refresh", "POST /v1/auth/logout"]);
  expect(ran.code).toBe(0);
});

test("if the server is unreachable, logout deletes the saved login and prints the time at which the session ends", async () => {
  const { home_dir, file } = await loggedIn(identity());
  const ran = await tenantctl(["logout"], { env: {}, home_dir });
  expect(ran.code).toBe(7);
  expect(ran.err()).toContain(
    `the saved login is deleted, but the server's session lasts until ${tokens(1).refresh_expires_at}`,
  );
  await expect(stat(file)).rejects.toThrow();
});

test("logout succeeds if the session has already ended", async () => {
  const { home_dir, file } = await loggedIn(identity());
  const server: Server = () => ({ status: 401, body: { message: "no" } });
  expect((await tenantctl(["logout"], { env: {}, home_dir, server })).code).toBe(0);
  await expect(stat(file)).rejects.toThrow();
});

test("a session is sent only to its own server", async () => {
  const server = identity();
  const { home_dir } = await loggedIn(server);
  const ran = await tenantctl([...LIST, "--endpoint", "http://127.0.0.1:9"], { env: {}, home_dir, server });
  expect([ran.code, ran.asked]).toEqual([2, []]);
});

test("the saved tenant applies only to the saved key", async () => {
  const server: Server = ({ path }) =>
    path === "/v1/auth/whoami" ? { body: { username: "ada", tenant_id: TENANT } } : { body: { items: [] } };
  const { home_dir } = fakeEnvironment();
  await tenantctl(["login", "--api-key-stdin"], { env: ENV, home_dir, server, typed: "opsk_tenant" });
  const own = await tenantctl(LIST, { env: {}, home_dir, server });
  expect(own.asked[0]!.query).toMatchObject({ tenant: TENANT, project: PROJECT });
  const other = await tenantctl([...LIST, "--api-key", "opsk_other"], { env: {}, home_dir, server });
  expect(other.asked[0]!.query.tenant).toBeUndefined();
});
