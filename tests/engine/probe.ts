// Defines a kind of actor for tests of the engine: a lamp that is created, switched on and off, and removed. Its
// decisions use every kind of part that a decision can have, except effects.
import { conflict, fault } from "../../src/contract/fault.ts";
import {
  allocate,
  audit,
  give,
  go,
  insert,
  lock,
  otherwise,
  refuse,
  release,
  remove,
  reply,
  take,
  tell,
  upsert,
  withActor,
} from "../../actors/engine/effects.ts";
import { type Of, runTable, type Table } from "../../actors/engine/table.ts";
import type { Behavior, Condition, Json, Out } from "../../actors/engine/types.ts";

export type LampState =
  | { readonly state: "off"; readonly id: string; readonly label: string | null; readonly address: string | null }
  | {
    readonly state: "on";
    readonly id: string;
    readonly label: string | null;
    readonly address: string | null;
    readonly lit_at: Date;
  };

export type LampMessage =
  | { readonly type: "make"; readonly id: string; readonly label?: string }
  | { readonly type: "switch_on"; readonly note?: string }
  | { readonly type: "switch_off" }
  /** Changes this lamp and the lamp `other` in one commit. */
  | { readonly type: "swap"; readonly other: string }
  /**
   * Takes from the budget `current`. If too little is left, the message is refused. With `fall_back` it succeeds
   * instead, and its reply has `drawn: 0`.
   */
  | { readonly type: "draw"; readonly amount: number; readonly fall_back?: boolean }
  | { readonly type: "refund"; readonly amount: number }
  | { readonly type: "plug"; readonly token: string }
  | { readonly type: "unplug" }
  /** Takes a lock and changes nothing else. */
  | { readonly type: "hold" }
  /** A guard refuses this message unless `allow` is true. The refusal contains the note. */
  | { readonly type: "guarded"; readonly allow: boolean; readonly note?: string }
  /** Takes a label that no other lamp has. A guard checks the label under a lock that all lamps take. */
  | { readonly type: "label"; readonly label: string }
  | { readonly type: "tell_other"; readonly other: string }
  | {
    readonly type: "child";
    readonly op: "insert" | "upsert" | "delete";
    readonly key: string;
    readonly value: number;
  }
  | { readonly type: "smash" }
  | { readonly type: "tick" };

export const NO_CURRENT = fault("conflict", "no current left");
export const NO_ADDRESS = fault("conflict", "no address left");
const LABEL_TAKEN = fault("conflict", "label is taken");
const LIT_MS = 60_000;

const lampTable: Table<LampState, LampMessage> = {
  make: { absent: make, off: "lamp exists", on: "lamp exists" },
  switch_on: { absent: "missing", off: switchOn, on: "lamp is <STATE> already" },
  switch_off: { absent: "missing", off: "ignore", on: switchOff },
  swap: { absent: "missing", off: swap, on: swap },
  draw: { absent: "missing", off: draw, on: draw },
  refund: { absent: "missing", off: refund, on: refund },
  plug: { absent: "missing", off: plug, on: plug },
  unplug: { absent: "missing", off: unplug, on: unplug },
  hold: { absent: "missing", off: hold, on: hold },
  guarded: { absent: "missing", off: guarded, on: guarded },
  label: { absent: "missing", off: labelled, on: labelled },
  tell_other: { absent: "missing", off: tellOther, on: tellOther },
  child: { absent: "missing", off: child, on: child },
  smash: { absent: "missing", off: smash, on: "lamp is hot" },
  tick: { absent: "ignore", off: "ignore", on: burnOut },
};

function make(_s: null, m: Of<LampMessage, "make">): Out<LampState> {
  return go(
    { state: "off", id: m.id, label: m.label ?? null, address: null },
    audit("lamp_make" as never, `Lamp::"${m.id}"`),
  );
}

function switchOn(s: LampState, m: Of<LampMessage, "switch_on">, now: Date): Out<LampState> {
  const { id, label, address } = s;
  const next: LampState = { state: "on", id, label, address, lit_at: now };
  return m.note === undefined ? go(next) : go(next, reply({ note: m.note }));
}

function switchOff(s: LampState): Out<LampState> {
  const { id, label, address } = s;
  return go({ state: "off", id, label, address });
}

function swap(s: LampState, m: Of<LampMessage, "swap">, now: Date): Out<LampState> {
  const next = s.state === "on" ? switchOff(s) : switchOn(s, { type: "switch_on" }, now);
  if (next.out !== "go") return next;
  const other = { kind: "lamp", id: m.other };
  return go(next.next, withActor(other, { type: s.state === "on" ? "switch_on" : "switch_off" }));
}

function draw(s: LampState, m: Of<LampMessage, "draw">): Out<LampState> {
  const taken = go(s, take("current", m.amount, NO_CURRENT), reply({ drawn: m.amount }));
  if (m.fall_back !== true || taken.out !== "go") return taken;
  return go(s, ...taken.parts, otherwise(go(s, reply({ drawn: 0 }))));
}

function refund(s: LampState, m: Of<LampMessage, "refund">): Out<LampState> {
  return go(s, give("current", m.amount));
}

function plug(s: LampState, m: Of<LampMessage, "plug">): Out<LampState> {
  return go({ ...s, address: m.token }, allocate("sockets", m.token, NO_ADDRESS));
}

function unplug(s: LampState): Out<LampState> {
  return s.address === null ? refuse(NO_ADDRESS) : go({ ...s, address: null }, release("sockets", s.address));
}

function hold(s: LampState): Out<LampState> {
  return go(s, lock(`lamp:${s.id}`));
}

function guarded(s: LampState, m: Of<LampMessage, "guarded">): Out<LampState> {
  const text = m.note === undefined ? "the guard forbids it" : `the guard forbids ${m.note}`;
  const parts = [lock(`lamp:${s.id}`), testGuard("lamp_allows", { allow: m.allow }, text)];
  return m.note === undefined ? go(s, ...parts) : go(s, ...parts, reply({ note: m.note }));
}

function labelled(s: LampState, { label }: Of<LampMessage, "label">): Out<LampState> {
  return go({ ...s, label }, lock("labels"), testGuard("lamp_label_is_free", { label }, `a guard found ${label}`));
}

/** A guard that only these tests define. */
export function testGuard(name: string, args: Json, text: string): Condition {
  return { part: "guard", name, args, fault: conflict(text) };
}

function tellOther(s: LampState, m: Of<LampMessage, "tell_other">): Out<LampState> {
  return go(s, tell({ kind: "lamp", id: m.other }, { type: "switch_on" }));
}

function child(s: LampState, m: Of<LampMessage, "child">): Out<LampState> {
  const row = { lamp_id: s.id, key: m.key, value: m.value };
  switch (m.op) {
    case "insert":
      return go(s, insert("lamp_part", row));
    case "upsert":
      return go(s, upsert("lamp_part", ["lamp_id", "key"], row));
    case "delete":
      return go(s, remove("lamp_part", { lamp_id: s.id, key: m.key }));
  }
}

function smash(): Out<LampState> {
  return go<LampState>(null);
}

function burnOut(s: LampState, _m: Of<LampMessage, "tick">, now: Date): Out<LampState> {
  return s.state === "on" && now.getTime() >= s.lit_at.getTime() + LIT_MS ? switchOff(s) : { out: "ignore" };
}

export const lamp: Behavior<LampState, LampMessage> = {
  kind: "lamp",
  table: "lamp",
  key: "id",
  step: (s, m, now) => runTable(lampTable, s, m, now),
  deadline: (s) => (s.state === "on" ? new Date(s.lit_at.getTime() + LIT_MS) : null),
  view: (s) => ({ id: s.id, state: s.state, label: s.label, address: s.address }),
  constraints: { lamp_label: LABEL_TAKEN },
};

/** The statements that create the lamp's tables in PostgreSQL. */
export const LAMP_SQL = `
create table lamp (
  id uuid primary key, incarnation uuid not null, version bigint not null, wake_at timestamptz,
  state text not null, label text, address text, lit_at timestamptz,
  constraint lamp_label unique (label)
);
create table lamp_part (lamp_id uuid, key text, value int, primary key (lamp_id, key));
insert into actor_kind values ('lamp', 'lamp', 'id');
create function guard_lamp_allows(args jsonb) returns boolean language sql as $$ select (args->>'allow')::boolean $$;
create function guard_lamp_label_is_free(args jsonb) returns boolean language sql as $$
  select not exists (select from lamp where label = args->>'label') $$;
insert into budget values ('current', 3, null);
insert into pool values ('sockets', null);
insert into pool_range values ('sockets', 1, 3);
`;
