// Tests boundary values of the transition tables of sessions and users.
import { expect, test } from "vitest";
import { session, type SessionMessage, type SessionState } from "../../actors/session/transition.ts";
import { BEYOND_CALLER, user } from "../../actors/user/transition.ts";
import type { UserState } from "../../actors/user/state.ts";
import { REFRESH_REPEAT_S, REFRESH_TOKEN_TTL_S, SESSION_LIFETIME_S_DEFAULT } from "../../src/contract/limits.ts";

const START = new Date("2026-01-01T00:00:00.000Z");
const after_ms = (ms: number) => new Date(START.getTime() + ms);

const SESSION: SessionState = {
  state: "live",
  id: "s",
  user_id: "u",
  user_epoch: 0,
  generation: 5,
  created_at: START,
  refreshed_at: START,
  expires_at: after_ms(REFRESH_TOKEN_TTL_S * 1_000),
  kind: "token",
  api_key_id: null,
  granted_root: false,
  granted_scope: null,
};

/**
 * Returns the session's generation after the message, "same" for no change, "ended" for a removed row, or the kind of
 * the fault if the message is refused.
 */
function outcome(message: SessionMessage, at_ms: number): number | string {
  const out = session.step(SESSION, message, after_ms(at_ms));
  if (out.out === "ignore") return "same";
  if (out.out === "refuse") return out.fault.kind;
  return out.next === null ? "ended" : out.next.generation;
}

const lifetime_s = SESSION_LIFETIME_S_DEFAULT;
const repeat_ms = REFRESH_REPEAT_S * 1_000;
const life_ms = REFRESH_TOKEN_TTL_S * 1_000;

test.each([
  [5, 0, 6],
  [5, life_ms - 1, 6],
  [5, life_ms, "ended"],
  [4, 0, "same"],
  [4, repeat_ms - 1, "same"],
  [4, repeat_ms, "ended"],
  [3, 0, "ended"],
  [1, 0, "ended"],
  // After a restore from a backup, a token may have a generation that this database does not know yet.
  [6, 0, "ended"],
])(
  "the token of generation %i of a session in generation 5, presented after %i ms, gives %j",
  (generation, at_ms, expected) => {
    expect(outcome({ type: "refresh", generation, lifetime_s }, at_ms)).toBe(expected);
  },
);

test("a refresh extends the expiry and the deadline", () => {
  const out = session.step(SESSION, { type: "refresh", generation: 5, lifetime_s }, after_ms(1_000));
  if (out.out !== "go" || out.next === null) throw new Error("the session was not refreshed");
  expect(out.next.expires_at).toEqual(after_ms(1_000 + life_ms));
  expect(session.deadline(out.next)).toEqual(out.next.expires_at);
});

test("a tick removes a session at its expiry and not before", () => {
  expect([outcome({ type: "tick" }, life_ms - 1), outcome({ type: "tick" }, life_ms)]).toEqual(["same", "ended"]);
});

const USER: UserState = {
  state: "live",
  id: "u",
  username: "u",
  is_root: false,
  tenant_id: null,
  silo_id: null,
  password_hash: "h",
  capabilities: [],
  issuer: null,
  subject: null,
  session_epoch: 3,
  created_at: START,
};

test("a new password increments the user's session_epoch; granting a capability does not", () => {
  const by = { is_root: true, capabilities: [], tenant_id: null };
  const epochs = [
    { type: "set_password", password_hash: "n", by },
    { type: "change_password", password_hash: "n", session_epoch: 3 },
    { type: "grant", capability: "system-read", by },
  ] as const;
  const found = epochs.map((message) => {
    const out = user.step(USER, message, START);
    return out.out === "go" ? out.next?.session_epoch : out.out;
  });
  expect(found).toEqual([4, 4, 3]);
});

test("a new password is not set if the old password changed in between", () => {
  const stale = { type: "change_password", password_hash: "n", session_epoch: 2 } as const;
  expect(user.step(USER, stale, START)).toMatchObject({ out: "refuse", fault: { kind: "conflict" } });
});

test("the view of a user does not contain the password hash", () => {
  expect(JSON.stringify(user.view({ ...USER, password_hash: "canary" }))).not.toContain("canary");
});

test("a caller of another tenant cannot set the password of a user", () => {
  const by = { is_root: false, capabilities: ["system-operate" as const], tenant_id: "b" };
  const of = (tenant_id: string) =>
    user.step({ ...USER, tenant_id }, { type: "set_password", password_hash: "n", by }, START);
  expect(of("a")).toEqual({ out: "refuse", fault: BEYOND_CALLER });
  expect(of("b")).toMatchObject({ out: "go" });
});
