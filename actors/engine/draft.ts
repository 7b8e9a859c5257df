// A draft collects the writes of one choice of a unit (store.ts), while the unit's messages are applied to the loaded
// actors.
import { callCondition } from "./conditions.ts";
import { ABSENT, type ChildRow, type Choice, type LoadedActor, type RowWrite } from "./store.ts";
import type { ActorRef, ActorState, AnyBehavior, ChildWrite, Envelope, Json, Out, Part, Tell, With } from "./types.ts";
import { refKey, SYSTEM } from "./types.ts";

/** An actor in a draft, with its loaded state and with its state after the messages that were applied so far. */
type Working = {
  readonly ref: ActorRef;
  readonly behavior: AnyBehavior;
  readonly loaded: LoadedActor;
  readonly incarnation: string;
  /** The id was created for a message of this draft, and the actor was not loaded. */
  readonly is_new: boolean;
  state: ActorState | null;
  version: number;
};

/** The inputs of a draft. `now` is the time of the database's clock when the actors were loaded. */
export type DraftContext = {
  readonly now: Date;
  readonly newId: () => string;
  readonly behavior: (kind: string) => AnyBehavior;
  readonly actors: ReadonlyMap<string, LoadedActor>;
  /**
   * Whether an earlier attempt failed or lost a race. If so, actors with new ids are loaded too, and no receiver's
   * decision joins the commit (see Tell).
   */
  readonly isRetry: boolean;
  /** The new incarnation of each absent actor. All choices of a unit use the same one. */
  readonly incarnations: Map<string, string>;
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

/** The writes collected so far; apply() adds to them. */
export type Draft = {
  readonly choice: Mutable<Choice>;
  readonly working: Map<string, Working>;
  /**
   * Receivers of `with` parts and of tells with `joins` that are not loaded yet. The draft is incomplete until this
   * list is empty.
   */
  readonly missing: ActorRef[];
  /** The refusal of another actor of the unit. It refuses the whole unit. */
  refused: Refusal | null;
  /** Whether the draft contains the decision of a tell's receiver (see Tell). */
  joined: boolean;
};

type Refusal = Extract<Out<ActorState>, { out: "refuse" }>;

/** Creates an empty draft. */
export function newDraft(): Draft {
  return {
    choice: { conditions: [], rows: [], children: [], transitions: [], replies: [], outbox: [] },
    working: new Map(),
    missing: [],
    refused: null,
    joined: false,
  };
}

/** Returns the actor with its current state in this draft, or undefined when it is not loaded. */
export function workingState(
  draft: Draft,
  ref: ActorRef,
  context: DraftContext,
  loaded = context.actors.get(refKey(ref)),
): Working | undefined {
  const key = refKey(ref);
  const present = draft.working.get(key);
  if (present !== undefined) return present;
  if (loaded === undefined) return undefined;
  const working: Working = {
    ref,
    behavior: context.behavior(ref.kind),
    loaded,
    incarnation: loaded.version > 0 ? loaded.incarnation : incarnationOf(key, context),
    is_new: loaded === NEW,
    state: loaded.state as ActorState | null,
    version: loaded.version,
  };
  draft.working.set(key, working);
  return working;
}

function incarnationOf(key: string, context: DraftContext): string {
  const known = context.incarnations.get(key);
  if (known !== undefined) return known;
  const fresh = context.newId();
  context.incarnations.set(key, fresh);
  return fresh;
}

/** Adds a decision about one actor to the draft, including its `with` parts. */
export function apply(draft: Draft, actor: Working, out: Out<ActorState>, by: Envelope, context: DraftContext): void {
  if (out.out === "refuse") {
    draft.choice.replies.push({ msg_id: by.id, reply: { fault: out.fault } });
    return;
  }
  if (out.out === "ignore") {
    draft.choice.replies.push({ msg_id: by.id, reply: { ok: viewOf(actor) } });
    return;
  }
  const part = advance(draft, actor, out, by, context);
  draft.choice.replies.push({ msg_id: by.id, reply: { ok: part === undefined ? viewOf(actor) : part.reply } });
}

/** Adds one transition: the log row, the new state, the parts. Returns the reply part when there is one. */
function advance(
  draft: Draft,
  actor: Working,
  out: Extract<Out<ActorState>, { out: "go" }>,
  by: Envelope,
  context: DraftContext,
  event = by.message.type,
): { readonly reply: Json } | undefined {
  const note = out.parts.find((part) => part.part === "audit");
  actor.version += 1;
  draft.choice.transitions.push({
    actor_kind: actor.ref.kind,
    actor_id: actor.ref.id,
    incarnation: actor.incarnation,
    seq: actor.version,
    event,
    from_state: actor.state?.state ?? "absent",
    to_state: out.next?.state ?? "absent",
    msg_id: by.id,
    at: context.now,
    audit: note === undefined ? null : {
      actor: by.origin.actor,
      action: note.action,
      resource: note.resource,
      request_id: by.origin.request_id,
      decision: "allow",
      outcome: { kind: "success", resource: note.resource },
      payload: note.payload,
    },
  });
  actor.state = out.next;
  let reply: { readonly reply: Json } | undefined;
  for (const part of out.parts) {
    if (part.part === "reply") reply = part;
    else takePart(draft, part, by, context);
  }
  return reply;
}

function takePart(draft: Draft, part: Part<ActorState>, by: Envelope, context: DraftContext): void {
  switch (part.part) {
    case "audit":
    case "reply":
    case "otherwise":
      return;
    case "child":
      draft.choice.children.push(childRow(part));
      return;
    case "tell":
      if (part.joins === true && !context.isRetry && join(draft, part, by, context)) return;
      draft.choice.outbox.push({ id: context.newId(), to: part.to, message: part.message });
      return;
    case "with":
      stepWith(draft, part, by, context);
      return;
    case "guard":
    case "take":
    case "give":
    case "allocate":
    case "release":
    case "effect":
    case "lock":
      draft.choice.conditions.push(callCondition(part));
      return;
    default:
      part satisfies never;
  }
}

/** The value for an actor that is not loaded, because its id was created for the message. */
const NEW: LoadedActor = { ...ABSENT };

function stepWith(draft: Draft, { to, message, isNew = false }: With, cause: Envelope, context: DraftContext): void {
  const by = { ...cause, to, message };
  const loaded = context.actors.get(refKey(to)) ?? (isNew && !context.isRetry ? NEW : undefined);
  const actor = workingState(draft, to, context, loaded);
  if (actor === undefined) {
    draft.missing.push(to);
    return;
  }
  const out = actor.behavior.step(actor.state, by.message, context.now) as Out<ActorState>;
  if (out.out === "refuse") draft.refused ??= out;
  if (out.out === "go") advance(draft, actor, out, by, context);
}

/** The conditions that can refuse a unit. */
const REFUSING: ReadonlySet<string> = new Set(["guard", "take", "allocate"]);

/**
 * Adds the receiver's decision about a tell to the draft, if this decision cannot fail. Otherwise leaves the draft as
 * it was and returns false. A receiver that is not loaded yet becomes one of the missing actors.
 */
function join(draft: Draft, { to, message }: Tell, by: Envelope, context: DraftContext): boolean {
  const { choice, working, refused } = draft;
  const lists = [choice.conditions, choice.children, choice.transitions, choice.outbox];
  const lengths = lists.map((list) => list.length);
  const states = [...working].map(([key, { state, version }]) => [key, { state, version }] as const);
  try {
    stepWith(draft, { part: "with", to, message }, { ...by, origin: SYSTEM }, context);
    const added = choice.conditions.slice(lengths[0]);
    if (draft.refused === refused && !added.some((condition) => REFUSING.has(condition.do))) {
      draft.joined = true;
      return true;
    }
  } catch {
    // The receiver throws again when the message is delivered after the commit. The error is reported then.
  }
  lists.forEach((list, index) => list.splice(lengths[index] ?? 0));
  draft.refused = refused;
  const before = new Map(states);
  for (const [key, actor] of working) {
    const state = before.get(key);
    if (state === undefined) working.delete(key);
    else Object.assign(actor, state);
  }
  return false;
}

function childRow(part: ChildWrite): ChildRow {
  switch (part.op) {
    case "insert":
      return { op: "insert", table: part.table, key: [], row: part.row as ChildRow["row"] };
    case "upsert":
      return { op: "upsert", table: part.table, key: part.key, row: part.row as ChildRow["row"] };
    case "delete":
      return {
        op: "delete",
        table: part.table,
        key: Object.keys(part.match as ChildRow["row"]),
        row: part.match as ChildRow["row"],
      };
  }
}

function viewOf(actor: Working): Json {
  return actor.state === null ? null : actor.behavior.view(actor.state);
}

/** Adds the writes that change each row from its loaded state to its final state, and returns the finished choice. */
export function closeDraft(draft: Draft): Choice {
  for (const actor of draft.working.values()) {
    const write = rowWrite(actor);
    if (write !== null) draft.choice.rows.push(write);
  }
  return draft.choice;
}

function rowWrite(actor: Working): RowWrite | null {
  const { ref, behavior, loaded, state, version, incarnation } = actor;
  if (version === loaded.version) return null;
  if (state === null) return loaded.version === 0 ? null : { op: "delete", ref, row: {} };
  const engineColumns = { version, wake_at: behavior.deadline(state) };
  if (loaded.version === 0) return { op: "insert", ref, row: { ...state, incarnation, ...engineColumns } };
  return { op: "update", ref, row: { ...changed(loaded.state ?? {}, state), ...engineColumns }, whole: state };
}

/** Returns the columns that differ. A column that the new state does not have becomes null. */
function changed(before: Readonly<Record<string, Json>>, after: ActorState): Record<string, Json> {
  const row: Record<string, Json> = {};
  const next = after as Readonly<Record<string, Json>>;
  for (const [column, value] of Object.entries(next)) {
    if (!same(before[column], value)) row[column] = value ?? null;
  }
  for (const [column, value] of Object.entries(before)) {
    if (!(column in next) && value !== null && !ENGINE_COLUMNS.has(column)) row[column] = null;
  }
  return row;
}

const ENGINE_COLUMNS: ReadonlySet<string> = new Set(["incarnation", "version", "wake_at"]);

function same(a: Json, b: Json): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  return a === b || (a ?? null) === (b ?? null);
}
