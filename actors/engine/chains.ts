// Runs the step function on the messages of claimed mailboxes. The messages of each mailbox become a chain of units of
// a commit call (fold.ts). The other actors that the units need are claimed and loaded together.
import type { Item } from "./answers.ts";
import { fold, type Folded, type Link } from "./fold.ts";
import type { Mailbox, Mailboxes } from "./mailbox.ts";
import type { LoadedActor, StoreSession } from "./store.ts";
import type { ActorRef, AnyBehavior } from "./types.ts";

type Folding = {
  readonly boxes: Mailboxes;
  readonly behavior: (kind: string) => AnyBehavior;
  readonly newId: () => string;
  /** The maximum number of units of one actor in one commit call. */
  readonly chain_max: number;
};

/** Claimed mailboxes, and the actors that were loaded for them. */
type Batch = {
  readonly claimed: readonly Mailbox[];
  /** Returns the maximum number of messages that the batch may take from a mailbox. */
  readonly messagesOf: (box: Mailbox) => number;
  readonly session: StoreSession;
  readonly actors: ReadonlyMap<string, LoadedActor>;
  /** The time of the database's clock when the actors were loaded. */
  readonly now: Date;
  /** The mailboxes of the other actors that units need. stepBatch claims and adds them, and the caller frees them. */
  readonly held: Mailbox[];
};

/**
 * Returns the function that runs the step function on the messages of a batch and returns their units in order.
 * `waiting` is true if a mailbox has no unit because its first message needs an actor whose mailbox is already claimed.
 * If the step function throws for a message, only this message fails.
 */
export function createChains({ boxes, behavior, newId, chain_max }: Folding) {
  return async function stepBatch({ claimed, messagesOf, session, actors, now, held }: Batch) {
    const loaded = new Map(actors);
    const chains = new Map<Mailbox, readonly Link[]>();
    let waiting = false;
    for (let open = claimed; open.length > 0;) {
      const needing: Mailbox[] = [];
      const needs: ActorRef[] = [];
      for (const box of open) {
        const folded = foldBox(box, { actors: loaded, now, messages_max: messagesOf(box) });
        if ("chain" in folded) {
          chains.set(box, folded.chain);
          continue;
        }
        const others = boxes.claimAlso(folded.needs);
        if (others === null) {
          waiting = true;
          continue;
        }
        held.push(...others);
        needing.push(box);
        needs.push(...folded.needs);
      }
      if (needs.length > 0) (await session.load(needs)).actors.forEach((actor, key) => loaded.set(key, actor));
      open = needing;
    }
    return { items: claimed.flatMap((box) => itemsOf(box, chains.get(box) ?? [], now)), waiting };
  };

  type FoldWith = {
    readonly actors: ReadonlyMap<string, LoadedActor>;
    readonly now: Date;
    readonly messages_max: number;
  };

  function foldBox(box: Mailbox, { messages_max, ...given }: FoldWith): Folded {
    const queue = box.queue.slice(0, messages_max).map((waiting) => waiting.envelope);
    const isRetry = (box.queue[0]?.attempts ?? 0) > 0;
    try {
      return fold({ ...given, newId, messages_max, chain_max, isRetry, ref: box.ref, queue, behavior });
    } catch (error) {
      // Any of these messages may have caused the error, so the first message is applied without the others. It fails
      // only if it causes an error then, too.
      if (queue.length > 1) return foldBox(box, { ...given, messages_max: 1 });
      boxes.remove(box, box.queue.slice(0, 1)).forEach((broken) => broken.fail(error));
      return { chain: [] };
    }
  }
}

function itemsOf(box: Mailbox, chain: readonly Link[], now: Date): readonly Item[] {
  let from = 0;
  return chain.map(({ unit, messages }) => ({ box, unit, messages: box.queue.slice(from, from += messages), now }));
}
