// A login session. It ends at a logout, at the expiry of its last refresh token, at the end of its maximum lifetime,
// and at a change of the password. A newer login of the same user can displace it. Each refresh token is valid for one
// refresh. Because an answer can be lost, the previous token gets the same answer again for a short time. The use of an
// older token ends the session, because the token may have been copied. A session of the web console has a cookie
// instead of tokens; each use moves its expiry.
import { REFRESH_REPEAT_S, REFRESH_TOKEN_TTL_S } from "../../src/contract/limits.ts";
import type { SessionKind } from "../../src/contract/enums.ts";
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
    /** The maximum lifetime: the session ends this many seconds after the login, even after a refresh. */
    readonly lifetime_s: number;
    /** Older sessions of the user that this login ends, because a user has at most SESSIONS_PER_USER_MAX. */
    readonly displaces: readonly string[];
  }
  /** Opens a session of the web console. */
  | {
    readonly type: "open";
    readonly id: string;
    readonly user_id: string;
    readonly user_epoch: number;
    /** The key that opened the session; null for a login. */
    readonly api_key_id: string | null;
    /** The rights from a token of the identity service; null for other logins. */
    readonly granted: SessionGrant | null;
    readonly lasts: WebSessionLimits;
    readonly displaces: readonly string[];
  }
  /** A request used a session of the web console. */
  | { readonly type: "touch"; readonly lasts: WebSessionLimits }
  /** `generation` is the generation of the presented refresh token. */
  | { readonly type: "refresh"; readonly generation: number; readonly lifetime_s: number }
  | { readonly type: "end" }
  /** A newer login of the same user displaces the session. */
  | { readonly type: "displace" }
  | { readonly type: "tick" };

/**
 * A session of the web console ends after `idle_s` seconds without a request, and at the latest `lifetime_s` seconds
 * after the login.
 */
export type WebSessionLimits = { readonly idle_s: number; readonly lifetime_s: number };

export type SessionGrant = { readonly is_root: boolean; readonly scope: "full" | "read_only" };

export type SessionState = {
  readonly state: "live";
  readonly id: string;
  readonly user_id: string;
  readonly user_epoch: number;
  readonly generation: number;
  readonly created_at: Date;
  readonly refreshed_at: Date;
  readonly expires_at: Date;
  readonly kind: SessionKind;
  readonly api_key_id: string | null;
  readonly granted_root: boolean;
  readonly granted_scope: SessionGrant["scope"] | null;
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
  open: { absent: open, live: "session exists already" },
  touch: { absent: "ignore", live: touch },
  refresh: { absent: "missing", live: refresh },
  end: { absent: "ignore", live: end },
  displace: { absent: "ignore", live: displace },
  tick: { absent: "ignore", live: expire },
};

function create(_s: null, m: Of<SessionMessage, "create">, now: Date): Out<SessionState> {
  const { id, user_id, user_epoch, lifetime_s, displaces } = m;
  const times = { created_at: now, refreshed_at: now, expires_at: expiry(now, now, lifetime_s) };
  return go(
    { state: "live", kind: "token", id, user_id, user_epoch, generation: 1, ...times, ...OWN_RIGHTS },
    audit("login", resource(id), { user_id }),
    ...displaces.map((other) => withActor({ kind: "session", id: other }, { type: "displace" })),
  );
}

function open(_s: null, m: Of<SessionMessage, "open">, now: Date): Out<SessionState> {
  const { id, user_id, user_epoch, api_key_id, granted, lasts, displaces } = m;
  const rights = { api_key_id, granted_root: granted?.is_root ?? false, granted_scope: granted?.scope ?? null };
  const times = { created_at: now, refreshed_at: now, expires_at: webExpiry(now, now, lasts) };
  return go(
    { state: "live", kind: "web", id, user_id, user_epoch, generation: 1, ...times, ...rights },
    audit("login", resource(id), { user_id }),
    ...displaces.map((other) => withActor({ kind: "session", id: other }, { type: "displace" })),
  );
}

function touch(s: Live, { lasts }: Of<SessionMessage, "touch">, now: Date): Out<SessionState> {
  if (s.kind !== "web" || now >= s.expires_at) return { out: "ignore" };
  return go({ ...s, refreshed_at: now, expires_at: webExpiry(now, s.created_at, lasts) });
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

/**
 * Returns the end of a web console's session: `idle_s` after its last use, at the latest `lifetime_s` after the login.
 */
function webExpiry(now: Date, created_at: Date, { idle_s, lifetime_s }: WebSessionLimits): Date {
  return new Date(Math.min(later(now, idle_s).getTime(), later(created_at, lifetime_s).getTime()));
}

/** Returns the end of any other session: a day after the last refresh, at the latest `lifetime_s` after the login. */
function expiry(now: Date, created_at: Date, lifetime_s: number): Date {
  return new Date(Math.min(later(now, REFRESH_TOKEN_TTL_S).getTime(), later(created_at, lifetime_s).getTime()));
}

const OWN_RIGHTS = { api_key_id: null, granted_root: false, granted_scope: null } as const;

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
  constraints: {
    session_user_id_fkey: conflict("the user was deleted"),
    session_api_key_id_fkey: conflict("the key was deleted"),
  },
};
