// Folding applies an actor's queued messages in order to a state that was loaded once, and builds one unit from the
// results. A message whose decision has conditions, alternatives or other actors gets a unit of its own.
import { apply, closeDraft, type Draft, type DraftContext, newDraft, workingState } from "./draft.ts";
import type { Choice, LoadedActor, Unit } from "./store.ts";
import type { ActorRef, ActorState, AnyBehavior, Envelope, Out } from "./types.ts";
import { refKey } from "./types.ts";

/** The messages of one actor and the actors loaded for them. `now` is the database's clock at the load. */
export type FoldInput = {
  readonly ref: ActorRef;
  readonly queue: readonly Envelope[];
  readonly now: Date;
  readonly actors: ReadonlyMap<string, LoadedActor>;
  readonly behavior: (kind: string) => AnyBehavior;
  readonly newId: () => string;
  /** At most this many messages in the unit. */
  readonly messages_max: number;
};

/** A unit and the number of queued messages that it answers, or the actors that must be loaded first. */
export type Folded =
  | { readonly unit: Unit; readonly messages: number }
  | { readonly needs: readonly ActorRef[] };

/** Steps as many queued messages as fit in one unit. The queue must not be empty. */
export function fold(input: FoldInput): Folded {
  const context: DraftContext = { ...input, incarnations: new Map() };
  const draft = newDraft();
  const actor = workingState(draft, input.ref, context);
  if (actor === undefined) return { needs: [input.ref] };
  let messages = 0;
  for (const envelope of input.queue.slice(0, input.messages_max)) {
    const out = actor.behavior.step(actor.state, envelope.message, input.now) as Out<ActorState>;
    if (needsOwnUnit(out)) {
      if (messages > 0) break;
      return foldAlone(input, envelope, out, context);
    }
    apply(draft, actor, out, envelope, context);
    messages += 1;
    // Messages after a removal belong to the actor's next incarnation.
    if (out.out === "go" && out.next === null) break;
  }
  return { unit: unitOf([draft], [closeDraft(draft)], input.queue.slice(0, messages)), messages };
}

function needsOwnUnit(out: Out<ActorState>): boolean {
  return out.out === "go" && out.parts.some((part) => !PLAIN_PARTS.has(part.part));
}

const PLAIN_PARTS: ReadonlySet<string> = new Set(["audit", "child", "tell", "reply"]);

function foldAlone(input: FoldInput, envelope: Envelope, out: Out<ActorState>, context: DraftContext): Folded {
  const drafts: Draft[] = [];
  const choices: Choice[] = [];
  for (const alternative of alternatives(out)) {
    const draft = draftOf(input, envelope, alternative, context);
    if (draft.missing.length > 0) return { needs: draft.missing };
    drafts.push(draft);
    choices.push(closeDraft(draft));
  }
  return { unit: unitOf(drafts, choices, [envelope]), messages: 1 };
}

function draftOf(input: FoldInput, envelope: Envelope, out: Out<ActorState>, context: DraftContext): Draft {
  const draft = newDraft();
  const actor = workingState(draft, input.ref, context);
  if (actor === undefined) throw new Error(`${refKey(input.ref)} was not loaded`);
  apply(draft, actor, out, envelope, context);
  if (draft.refused === null) return draft;
  const refusal = draftOf(input, envelope, draft.refused, context);
  // The refusal depends on all rows that were read for it, the other actors' rows included.
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
  const actors = new Map<string, Unit["actors"][number]>();
  for (const draft of drafts) {
    for (const [key, { ref, loaded }] of draft.working) {
      actors.set(key, { ref, incarnation: loaded.incarnation, version: loaded.version });
    }
  }
  return {
    actors: [...actors.values()],
    stale_ids: envelopes.filter((envelope) => !envelope.fresh).map((envelope) => envelope.id),
    choices,
  };
}
