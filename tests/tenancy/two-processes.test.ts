// A change in one process takes effect in another process at once. The tests use two servers that share only a database
// (docs/reliability.md S-11).
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";

const PASSWORD = "a long enough password";
let database: FreshDatabase;
let servers: readonly [ServerProcess, ServerProcess];

beforeAll(async () => {
  database = await freshDatabase();
  const env = { DATABASE_URL: database.url, BERTH_LOGIN_PER_MINUTE: "1000000" };
  servers = await Promise.all([startServer({ env }), startServer({ env })]);
  await call(0, "POST", "/v1/system/users", { body: { username: "user", password: PASSWORD } });
});
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.kill()));
  await database?.drop();
});

type Given = { readonly key?: string | null; readonly body?: unknown };

async function call(on: 0 | 1, method: string, path: string, { key = ROOT_KEY, body }: Given = {}) {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  const response = await fetch(servers[on].url + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const login = async () =>
  (await call(0, "POST", "/v1/auth/login", { key: null, body: { username: "user", password: PASSWORD } })).body;
const refresh = (on: 0 | 1, refresh_token: string) =>
  call(on, "POST", "/v1/auth/refresh", { key: null, body: { refresh_token } });
const isAccepted = async (on: 0 | 1, key: string) => (await call(on, "GET", "/v1/auth/whoami", { key })).status === 200;
const eachOf = <T>(times: number, work: (on: 0 | 1) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, n) => work(n % 2 === 0 ? 0 : 1)));

test("S-11: both servers refuse a key after its deletion, and a session after its end", async () => {
  for (let round = 0; round < 3; round += 1) {
    const key = (await call(0, "POST", "/v1/auth/api-keys", { body: { description: "d" } })).body;
    const session = await login();
    const warm = await eachOf(20, (on) => isAccepted(on, on === 0 ? key.secret : session.access_token));
    expect(new Set(warm)).toEqual(new Set([true]));
    expect((await call(0, "DELETE", `/v1/auth/api-keys/${key.id}`)).status).toBe(204);
    expect(await eachOf(40, (on) => isAccepted(on, key.secret))).not.toContain(true);
    expect((await call(1, "POST", "/v1/auth/logout", { key: session.access_token })).status).toBe(204);
    expect(await eachOf(40, (on) => isAccepted(on, session.access_token))).not.toContain(true);
  }
});

test("if a refresh token is sent to both servers at the same time, both return the same new tokens", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { refresh_token } = await login();
    const answers = await eachOf(10, (on) => refresh(on, refresh_token));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect((await refresh(1, answers[0]!.body.refresh_token)).status).toBe(200);
  }
});
