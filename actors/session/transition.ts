// A login session. It ends with a logout, with the expiry of its last refresh token, with its maximum lifetime, with a
// change of the password, or when a newer login of the user displaces it. Each refresh token is valid for one refresh.
// Because an answer can be lost, the previous token gets the same answer again for a short time. The use of an older
// token ends the session, because that token was copied.
import { REFRESH_REPEAT_S, REFRESH_TOKEN_TTL_S } from "../../src/contract/limits.ts";
import { conflict } from "../../src/contract/fault.ts";
import { audit, go, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type SessionMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly user_id: string;
    readonly user_epoch: number;
    /** Seconds from the login after which no refresh extends the session. */
    readonly lifetime_s: number;
    /** Older sessions of the user that end with this login: a user has at most SESSIONS_PER_USER_MAX. */
    readonly displaces: readonly string[];
  }
  /** `generation` is the generation of the presented refresh token. */
  | { readonly type: "refresh"; readonly generation: number; readonly lifetime_s: number }
  | { readonly type: "end" }
  /** A newer login of the same user displaces the session. */
  | { readonly type: "displace" }
  | { readonly type: "tick" };

export type SessionState = {
  readonly state: "live";
  readonly id: string;
  readonly user_id: string;
  readonly user_epoch: number;
  readonly generation: number;
  readonly created_at: Date;
  readonly refreshed_at: Date;
  readonly expires_at: Date;
};

/** The content of the tokens of a session. It holds no secret. */
export type SessionView = {
  readonly id: string;
  readonly user_id: string;
  readonly generation: number;
  readonly refreshed_at: string;
  /** Missing in replies that were stored before sessions had a lifetime. */
  readonly expires_at?: string;
};

type Live = At<SessionState, "live">;

export const sessionTable: Table<SessionState, SessionMessage> = {
  create: { absent: create, live: "session exists already" },
  refresh: { absent: "missing", live: refresh },
  end: { absent: "ignore", live: end },
  displace: { absent: "ignore", live: displace },
  tick: { absent: "ignore", live: expire },
};

function create(_s: null, m: Of<SessionMessage, "create">, now: Date): Out<SessionState> {
  const { id, user_id, user_epoch, lifetime_s, displaces } = m;
  const times = { created_at: now, refreshed_at: now, expires_at: expiry(now, now, lifetime_s) };
  return go(
    { state: "live", id, user_id, user_epoch, generation: 1, ...times },
    audit("login", resource(id), { user_id }),
    ...displaces.map((other) => withActor({ kind: "session", id: other }, { type: "displace" })),
  );
}

function refresh(s: Live, { generation, lifetime_s }: Of<SessionMessage, "refresh">, now: Date): Out<SessionState> {
  if (now >= s.expires_at || now >= later(s.created_at, lifetime_s)) return go<SessionState>(null);
  if (generation === s.generation) {
    const expires_at = expiry(now, s.created_at, lifetime_s);
    const next = { ...s, generation: generation + 1, refreshed_at: now, expires_at };
    return go(next, audit("refresh", resource(s.id), { user_id: s.user_id, generation: next.generation }));
  }
  const repeat_ends_ms = s.refreshed_at.getTime() + REFRESH_REPEAT_S * 1_000;
  if (generation === s.generation - 1 && now.getTime() < repeat_ends_ms) return { out: "ignore" };
  return go<SessionState>(null, audit("session_reuse", resource(s.id), { user_id: s.user_id, generation }));
}

function end(s: Live): Out<SessionState> {
  return go<SessionState>(null, audit("logout", resource(s.id), { user_id: s.user_id }));
}

function displace(s: Live): Out<SessionState> {
  return go<SessionState>(null, audit("session_displaced", resource(s.id), { user_id: s.user_id }));
}

function expire(s: Live, _m: Of<SessionMessage, "tick">, now: Date): Out<SessionState> {
  return now < s.expires_at ? { out: "ignore" } : go<SessionState>(null);
}

/** Returns the end of the session: a day after the last refresh, at most `lifetime_s` after the login. */
function expiry(now: Date, created_at: Date, lifetime_s: number): Date {
  return new Date(Math.min(later(now, REFRESH_TOKEN_TTL_S).getTime(), later(created_at, lifetime_s).getTime()));
}

function later(than: Date, seconds: number): Date {
  return new Date(than.getTime() + seconds * 1_000);
}

function resource(id: string): string {
  return `Session::"${id}"`;
}

export const session: Behavior<SessionState, SessionMessage> = {
  kind: "session",
  table: "session",
  key: "id",
  step: (s, m, now) => runTable(sessionTable, s, m, now),
  deadline: (s) => s.expires_at,
  view: ({ id, user_id, generation, refreshed_at, expires_at }): SessionView => ({
    id,
    user_id,
    generation,
    refreshed_at: refreshed_at.toISOString(),
    expires_at: expires_at.toISOString(),
  }),
  constraints: { session_user_id_fkey: conflict("the user was deleted") },
};
