// Folding loads an actor once and applies the actor's queued messages to the loaded state, in order. The result is a
// chain of units in one commit call. Each unit is written as a whole or not at all, and begins at the version that the
// unit before it writes. If a unit is not written, the units after it are not written either, and their messages are
// applied again. Messages whose decisions cannot fail share one unit. A message gets a unit of its own if its decision
// has an alternative, a `with` part for another actor, a tell that may join the commit, or any condition except a lock.
import { apply, closeDraft, type Draft, type DraftContext, newDraft, workingState } from "./draft.ts";
import type { Choice, LoadedActor, Unit, UnitActor } from "./store.ts";
import type { ActorRef, ActorState, AnyBehavior, Envelope, Out, Part } from "./types.ts";
import { refKey } from "./types.ts";

/**
 * The messages of one actor, and the actors that were loaded for these messages. `now` is the time of the database's
 * clock when they were loaded.
 */
export type FoldInput = {
  readonly ref: ActorRef;
  readonly queue: readonly Envelope[];
  readonly now: Date;
  readonly actors: ReadonlyMap<string, LoadedActor>;
  readonly behavior: (kind: string) => AnyBehavior;
  readonly newId: () => string;
  readonly isRetry: boolean;
  /** The maximum number of messages in the chain. */
  readonly messages_max: number;
  /** The maximum number of units in the chain. */
  readonly chain_max: number;
};

/** A unit and the number of queued messages that it answers. */
export type Link = { readonly unit: Unit; readonly messages: number };

/** The chain of units for the first messages of the queue, or the actors that must be loaded first. */
export type Folded = { readonly chain: readonly Link[] } | { readonly needs: readonly ActorRef[] };

/** Applies as many queued messages as fit in one chain. The queue must not be empty. */
export function fold(input: FoldInput): Folded {
  const context: DraftContext = { ...input, incarnations: new Map() };
  const chain: Link[] = [];
  let queue = input.queue.slice(0, input.messages_max);
  let actors = input.actors;
  let written_by: string | undefined;
  while (queue.length > 0 && chain.length < input.chain_max) {
    const next = foldUnit({ ...input, queue }, { ...context, actors });
    if ("needs" in next) {
      if (chain.length === 0) return next;
      break;
    }
    const { unit, messages, after } = next;
    chain.push({ messages, unit: written_by === undefined ? unit : following(unit, input.ref, written_by) });
    queue = queue.slice(messages);
    if (after === null || queue.length === 0) break;
    actors = new Map(actors).set(refKey(input.ref), after.actor);
    written_by = after.written_by;
  }
  return { chain };
}

function following(unit: Unit, ref: ActorRef, written_by: string): Unit {
  const key = refKey(ref);
  return { ...unit, actors: unit.actors.map((each) => refKey(each.ref) === key ? { ...each, written_by } : each) };
}

/** The actor as the commit writes it, and the message of its last transition. */
type After = { readonly actor: LoadedActor; readonly written_by: string };

/**
 * A link, and the state of its actor after the commit. `after` is null if this state is unknown until the next load, or
 * if the link has no transition.
 */
type FoldedUnit = Link & { readonly after: After | null };

function foldUnit(input: FoldInput, context: DraftContext): FoldedUnit | { readonly needs: readonly ActorRef[] } {
  const draft = newDraft();
  const actor = workingState(draft, input.ref, context);
  if (actor === undefined) return { needs: [input.ref] };
  let messages = 0;
  let foreseen = true;
  for (const envelope of input.queue) {
    const out = actor.behavior.step(actor.state, envelope.message, input.now) as Out<ActorState>;
    if (needsOwnUnit(out)) {
      if (messages > 0) break;
      return foldAlone(input, envelope, out, context);
    }
    apply(draft, actor, out, envelope, context);
    messages += 1;
    foreseen &&= isForeseen(out, actor.behavior);
    // Messages after a removal belong to the actor's next incarnation.
    if (out.out === "go" && out.next === null) break;
  }
  const unit = unitOf([draft], [closeDraft(draft)], input.queue.slice(0, messages));
  return { unit, messages, after: foreseen ? stateAfter(draft, input.ref) : null };
}

function needsOwnUnit(out: Out<ActorState>): boolean {
  return out.out === "go" && out.parts.some((part) => !PLAIN_PARTS.has(part.part) || joins(part));
}

function joins(part: Part<ActorState>): boolean {
  return part.part === "tell" && part.joins === true;
}

/**
 * Parts that cannot fail. Messages whose decisions have only these parts share a unit, unless a tell may join the
 * commit. The unit holds the locks of all these decisions.
 */
const PLAIN_PARTS: ReadonlySet<string> = new Set(["audit", "child", "tell", "reply", "lock"]);

/**
 * Returns whether the state after the commit is known without a load. The state is unknown in these cases:
 * - The decision removes the row or allocates a value.
 * - The decision has an alternative, an effect, a `with` part, or a tell that may join the commit.
 * - The kind is loaded from a SQL view, and the decision writes child rows, or changes a budget or a pool.
 */
function isForeseen(out: Out<ActorState>, { from }: AnyBehavior): boolean {
  if (out.out !== "go") return true;
  const parts = from === undefined ? FORESEEN_PARTS : FORESEEN_BESIDE_JOINS;
  return out.next !== null && out.parts.every((part) => parts.has(part.part) && !joins(part));
}

const FORESEEN_BESIDE_JOINS: ReadonlySet<string> = new Set(["audit", "tell", "reply", "lock", "guard"]);
const FORESEEN_PARTS: ReadonlySet<string> = new Set([...FORESEEN_BESIDE_JOINS, "child", "take", "give", "release"]);

function stateAfter(draft: Draft, ref: ActorRef): After | null {
  const actor = draft.working.get(refKey(ref));
  const last = draft.choice.transitions.at(-1);
  if (actor === undefined || last === undefined) return null;
  const { state, incarnation, version } = actor;
  return { actor: { state, incarnation, version }, written_by: last.msg_id };
}

function foldAlone(
  input: FoldInput,
  envelope: Envelope,
  out: Out<ActorState>,
  context: DraftContext,
): FoldedUnit | { readonly needs: readonly ActorRef[] } {
  const drafts: Draft[] = [];
  const choices: Choice[] = [];
  const all = alternatives(out);
  // The first call contains no alternatives: they would make the call larger, and the first decision is nearly always
  // written.
  const sent = envelope.alternatives === true ? all : all.slice(0, 1);
  for (const alternative of sent) {
    const draft = draftOf(input, envelope, alternative, context);
    if (draft.missing.length > 0) return { needs: draft.missing };
    drafts.push(draft);
    choices.push(closeDraft(draft));
  }
  const foreseen = isForeseen(out, context.behavior(input.ref.kind));
  const [first] = drafts;
  const after = foreseen && first !== undefined ? stateAfter(first, input.ref) : null;
  const unit = unitOf(drafts, choices, [envelope]);
  return { unit: sent.length < all.length ? { ...unit, partial: true } : unit, messages: 1, after };
}

function draftOf(input: FoldInput, envelope: Envelope, out: Out<ActorState>, context: DraftContext): Draft {
  const draft = newDraft();
  const actor = workingState(draft, input.ref, context);
  if (actor === undefined) throw new Error(`${refKey(input.ref)} was not loaded`);
  apply(draft, actor, out, envelope, context);
  if (draft.refused === null) return draft;
  const refusal = draftOf(input, envelope, draft.refused, context);
  // The refusal depends on all rows that were read for it, including the rows of other actors.
  for (const [key, { loaded, ...other }] of draft.working) {
    if (!refusal.working.has(key)) {
      refusal.working.set(key, { ...other, loaded, state: loaded.state as ActorState | null, version: loaded.version });
    }
  }
  return refusal;
}

/** Returns the decision and its alternatives, in order. */
function alternatives(out: Out<ActorState>): readonly Out<ActorState>[] {
  if (out.out !== "go") return [out];
  const rest = out.parts.find((part) => part.part === "otherwise");
  return rest === undefined ? [out] : [out, ...alternatives(rest.out)];
}

function unitOf(drafts: readonly Draft[], choices: readonly Choice[], envelopes: readonly Envelope[]): Unit {
  const actors = new Map<string, UnitActor>();
  for (const draft of drafts) {
    for (const [key, { ref, loaded, is_new }] of draft.working) {
      const { incarnation, version } = loaded;
      actors.set(key, { ref, incarnation, version, ...(is_new && { is_new }) });
    }
  }
  return {
    actors: [...actors.values()],
    stale_ids: envelopes.filter((envelope) => !envelope.fresh).map((envelope) => envelope.id),
    choices,
    ...(drafts.some((draft) => draft.joined) && { joined: true }),
  };
}
