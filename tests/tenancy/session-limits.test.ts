// Tests the limits of logins and sessions: failed attempts of an account from all addresses, the lifetime of a session,
// and the number of sessions of a user (docs/reliability.md S-48 and S-49).
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SESSION_LIFETIME_S_DEFAULT, SESSIONS_PER_USER_MAX } from "../../src/contract/limits.ts";
import { type Answer, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const PASSWORD = "a long enough password";
const DAY_S = 86_400;
/** Half of the time that a session lasts without a refresh. */
const HALF_DAY_S = DAY_S / 2;
const PER_MINUTE = 3;

/** Two control planes on one database, as in two processes. Each limits the logins of an account, not of an address. */
let t: TestControlPlane;
let second: TestControlPlane;
let users = 0;
let addresses = 0;

beforeAll(async () => {
  const env = { BERTH_LOGIN_ACCOUNT_PER_MINUTE: String(PER_MINUTE) };
  t = await openTestControlPlane({ env });
  second = await openTestControlPlane({ env, databaseUrl: t.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await t.close();
});

async function newUser(): Promise<{ id: string; username: string }> {
  users += 1;
  const made = await t.call("POST", "/v1/system/users", { body: { username: `user-${users}`, password: PASSWORD } });
  expect(made.status).toBe(201);
  return made.body;
}

/** Sends each login from another address. */
function login(username: string, password = PASSWORD, on = t): Promise<Answer> {
  addresses += 1;
  const address = `198.18.${addresses >> 8}.${addresses & 255}`;
  return on.call("POST", "/v1/auth/login", { key: null, body: { username, password }, address });
}
const refresh = (refresh_token: string) => t.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token } });
const statusOf = async (key: string, on = t) => (await on.call("GET", "/v1/auth/whoami", { key })).status;
const without = ({ request_id: _, ...rest }: Record<string, unknown>) => rest;
/** Returns the status and the body without the parts that change with time. */
const shape = ({ status, body }: Answer) => [status, JSON.stringify(without(body)).replace(/\d+ s/, "N s")];

describe("login attempts of one account", () => {
  test("share one limit over all addresses and processes, for known and unknown names", async () => {
    const user = await newUser();
    const tried: Record<string, unknown[]> = {};
    for (const name of [user.username, "an unknown name"]) {
      const answers: Answer[] = [];
      for (let n = 0; n < PER_MINUTE + 3; n += 1) answers.push(await login(name, "wrong", n % 2 === 0 ? t : second));
      const refused = answers.slice(PER_MINUTE);
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429, 429]);
      for (const { headers, body } of refused) {
        expect(body.error_code).toBe("TooManyRequests");
        expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      }
      tried[name] = answers.map(shape);
    }
    expect(tried[user.username]).toEqual(tried["an unknown name"]);
    // The right password is refused, too, with the same response as a wrong password.
    expect(shape(await login(user.username))).toEqual(shape(await login(user.username, "wrong")));
    expect((await login(user.username, PASSWORD, second)).status).toBe(429);
    // Other accounts are not limited.
    expect((await login((await newUser()).username)).status).toBe(200);
    await t.advance(60);
    expect((await login(user.username)).status).toBe(200);
  });

  test("that arrive at the same time are limited, too", async () => {
    const { username } = await newUser();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => login(username, "wrong", n % 2 === 0 ? t : second)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(PER_MINUTE);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - PER_MINUTE);
  });

  test("are not counted when they succeed", async () => {
    const { username } = await newUser();
    for (let n = 0; n < 3 * PER_MINUTE; n += 1) expect((await login(username)).status).toBe(200);
    expect((await login(username, "wrong")).status).toBe(401);
  });

  test("share their count with password changes that give a wrong current password", async () => {
    const { username } = await newUser();
    const { access_token } = (await login(username)).body;
    const change = (current_password: string) =>
      t.call("POST", "/v1/auth/password", {
        key: access_token,
        body: { current_password, password: "another long password" },
      });
    for (let n = 0; n < PER_MINUTE; n += 1) expect((await change("wrong")).status).toBe(400);
    expect((await change(PASSWORD)).status).toBe(429);
    expect((await login(username)).status).toBe(429);
  });
});

describe("a session", () => {
  test("ends a week after its login, despite refreshes", async () => {
    const { username } = await newUser();
    let tokens = (await login(username)).body;
    const { rows } = await t.db.query<{ now: Date }>("select berth_now() as now");
    const end_ms = rows[0]!.now.getTime() + SESSION_LIFETIME_S_DEFAULT * 1_000;
    for (let passed_s = HALF_DAY_S; passed_s < SESSION_LIFETIME_S_DEFAULT; passed_s += HALF_DAY_S) {
      await t.advance(HALF_DAY_S);
      const next = await refresh(tokens.refresh_token);
      expect(next.status).toBe(200);
      tokens = next.body;
      expect(Date.parse(tokens.refresh_expires_at)).toBeLessThanOrEqual(end_ms);
    }
    // In the session's last minute, a new token expires no later than the session.
    await t.advance(HALF_DAY_S - 60);
    const last = await refresh(tokens.refresh_token);
    expect(last.status).toBe(200);
    expect(Date.parse(last.body.access_expires_at)).toBeLessThanOrEqual(end_ms);
    expect(await statusOf(last.body.access_token)).toBe(200);
    await t.advance(61);
    expect((await refresh(last.body.refresh_token)).status).toBe(401);
    expect([await statusOf(last.body.access_token), await statusOf(last.body.access_token, second)]).toEqual([
      401,
      401,
    ]);
  });

  test("has the lifetime in the current setting, even if the session began before the setting was changed", async () => {
    const { username } = await newUser();
    const tokens = (await login(username)).body;
    const path = "/v1/config/session.lifetime_secs";
    expect((await t.call("PUT", path, { body: { value: 3_600 } })).status).toBe(200);
    try {
      await t.advance(3_601);
      expect((await refresh(tokens.refresh_token)).status).toBe(401);
      const next = (await login(username)).body;
      await t.advance(1_800);
      const later = await refresh(next.refresh_token);
      expect(later.status).toBe(200);
      await t.advance(1_801);
      expect((await refresh(later.body.refresh_token)).status).toBe(401);
    } finally {
      await t.call("DELETE", path);
    }
  });

  test("above the user's maximum ends the user's oldest session at once, with an audit event", async () => {
    const { id, username } = await newUser();
    const first = (await login(username)).body;
    const [, claims] = first.access_token.split(".");
    const { sid } = JSON.parse(Buffer.from(claims, "base64url").toString());
    // Inserts the other sessions, each a little younger, instead of logging in for each session.
    await t.db.query(
      `insert into session select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
              'incarnation', gen_random_uuid(), 'created_at', s.created_at + n * interval '1 ms'))).*
         from session s, generate_series(1, $2) n where s.id = $1`,
      [sid, SESSIONS_PER_USER_MAX - 1],
    );
    expect(await statusOf(first.access_token)).toBe(200);
    const newest = (await login(username)).body;
    expect(await Promise.all([first, newest].map(({ access_token }) => statusOf(access_token, second)))).toEqual([
      401,
      200,
    ]);
    expect((await refresh(first.refresh_token)).status).toBe(401);
    // Logins at the same time in two processes leave no more sessions than the maximum.
    for (let round = 0; round < 3; round += 1) {
      const crowd = Array.from({ length: PER_MINUTE }, (_, n) => login(username, PASSWORD, n % 2 ? t : second));
      expect((await Promise.all(crowd)).map(({ status }) => status)).toEqual(Array(PER_MINUTE).fill(200));
    }
    expect(await statusOf(newest.access_token)).toBe(200);
    expect((await login(username)).status).toBe(200);
    const { rows } = await t.db.query<{ live: number }>(
      "select count(*)::int as live from session where user_id = $1",
      [
        id,
      ],
    );
    expect(rows[0]!.live).toBeLessThanOrEqual(SESSIONS_PER_USER_MAX);
    const displaced = async () =>
      (await t.call("GET", "/v1/audit/events?limit=1000")).body.events
        .filter(({ action }: { action: string }) => action === "session_displaced").length;
    await expect.poll(displaced, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
  }, 120_000);
});
