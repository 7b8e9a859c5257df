// The states of a console session (docs/instances.md, "Serial console"): a ticket for one connection, then a call that
// asks the node to connect, then the open connection. The bytes are not stored. The audit chain records who opened the
// console, and when. A session that reads the log or the screen once (CONSOLE_READS) has no audit entry.
import { CONSOLE_READS, type ConsoleMode, type ConsoleRead } from "../../src/contract/enums.ts";
import { NOT_FOUND } from "../../src/contract/fault.ts";
import { CONSOLE_DIAL_S, CONSOLE_LEASE_S, CONSOLE_TICKET_S } from "../../src/contract/limits.ts";
import { addMs, toRfc3339 } from "../../src/lib/text/instant.ts";
import { audit, go, refuse } from "../engine/effects.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";
import type { ConsoleSessionMessage, Msg } from "./messages.ts";
import type { ConsoleSessionState, ConsoleSessionView, On } from "./state.ts";

type State = ConsoleSessionState;

const USED = "the console session exists already";

export const consoleSessionTable: Table<State, ConsoleSessionMessage> = {
  issue: { absent: issue, ticket: USED, calling: USED, told: USED, open: USED },
  read: { absent: read, ticket: USED, calling: USED, told: USED, open: USED },
  // A used, an expired and an unknown ticket get the same answer.
  call: { absent: "missing", ticket: call, calling: "missing", told: "missing", open: "missing" },
  tell: { absent: "missing", ticket: "missing", calling: tell, told: "missing", open: "missing" },
  meet: { absent: "missing", ticket: "missing", calling: meet, told: meet, open: "missing" },
  renew: { absent: "missing", ticket: "missing", calling: "missing", told: "missing", open: renew },
  end: { absent: "ignore", ticket: end, calling: end, told: end, open: end },
  tick: { absent: "ignore", ticket: expire, calling: expire, told: expire, open: lapse },
};

function issue(_s: null, m: Msg<"issue">, now: Date): Out<State> {
  const { type: _type, ...columns } = m;
  const next: On<"ticket"> = {
    ...columns,
    ...made(m, now),
    state: "ticket",
    relay_url: null,
    expires_at: later(now, CONSOLE_TICKET_S),
  };
  const { mode, take_over } = m;
  return go<State>(next, audit("console_ticket", resource(m), { session_id: m.id, mode, take_over }));
}

function read(_s: null, m: Msg<"read">, now: Date): Out<State> {
  const { type: _type, ...columns } = m;
  const unused = { take_over: false, history_bytes: 0, ticket_sha256: null } as const;
  return go<State>({
    ...columns,
    ...made(m, now),
    ...unused,
    state: "calling",
    expires_at: later(now, CONSOLE_DIAL_S),
  });
}

function call(s: On<"ticket">, { cn, relay_url }: Msg<"call">, now: Date): Out<State> {
  if (now >= s.expires_at) return refuse(NOT_FOUND);
  const { mode, take_over } = s;
  return go<State>(
    { ...s, state: "calling", cn, relay_url, expires_at: later(now, CONSOLE_DIAL_S) },
    audit("console_open", resource(s), { session_id: s.id, mode, take_over }),
  );
}

function tell(s: On<"calling">): Out<State> {
  return go<State>({ ...s, state: "told" });
}

function meet(s: On<"calling"> | On<"told">, _m: Msg<"meet">, now: Date): Out<State> {
  return go<State>({ ...s, state: "open", expires_at: later(now, CONSOLE_LEASE_S) });
}

function renew(s: On<"open">, _m: Msg<"renew">, now: Date): Out<State> {
  return go<State>({ ...s, expires_at: later(now, CONSOLE_LEASE_S) });
}

function end(s: State, { reason, bytes_in, bytes_out }: Msg<"end">): Out<State> {
  return go<State>(null, ...closed(s, reason, { bytes_in, bytes_out }));
}

function expire(s: State, _m: Msg<"tick">, now: Date): Out<State> {
  return now < s.expires_at ? { out: "ignore" } : go<State>(null, ...closed(s, "the node did not connect"));
}

/** Ends a session whose lease expired because the server process that relayed it has ended. */
function lapse(s: On<"open">, _m: Msg<"tick">, now: Date): Out<State> {
  return now < s.expires_at ? { out: "ignore" } : go<State>(null, ...closed(s, "the server process ended"));
}

/** Returns the audit entry for the end of a session. An unused ticket opened no console, so its end has no entry. */
function closed(s: State, reason: string, counted: Readonly<Record<string, number>> = {}): readonly Part<State>[] {
  if (s.state === "ticket" || isRead(s.mode)) return [];
  const { id: session_id, mode, user_id } = s;
  return [audit("console_close", resource(s), { session_id, mode, user_id, reason, ...counted })];
}

/** Returns whether the mode is a single read of the log or the screen, without a ticket. */
function isRead(mode: ConsoleMode): mode is ConsoleRead {
  return CONSOLE_READS.some((each) => each === mode);
}

function made({ credential_expires_at }: { readonly credential_expires_at: string | null }, now: Date) {
  return {
    credential_expires_at: credential_expires_at === null ? null : new Date(credential_expires_at),
    created_at: now,
  };
}

function later(than: Date, seconds: number): Date {
  return addMs(than, seconds * 1_000);
}

function resource({ instance_id }: { readonly instance_id: string }): string {
  return `Instance::"${instance_id}"`;
}

export const consoleSession: Behavior<State, ConsoleSessionMessage> = {
  kind: "console-session",
  table: "console_session",
  key: "id",
  step: (s, m, now) => runTable(consoleSessionTable, s, m, now),
  deadline: (s) => s.expires_at,
  view: ({ id, expires_at }): ConsoleSessionView => ({ id, expires_at: toRfc3339(expires_at) }),
  constraints: {},
};
