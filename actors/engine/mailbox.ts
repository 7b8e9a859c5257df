// The mailboxes of one process. An actor's messages keep their order, and an actor is in at most one batch at a time.
// The queues are limited, per actor and in total, so an overloaded server rejects messages at once.
import type { ActorRef, Envelope, Outcome } from "./types.ts";
import { refKey } from "./types.ts";

/** A queued message and the callbacks of its sender. */
export type Waiting = {
  envelope: Envelope;
  /** The number of commit attempts so far that met a version conflict or an error. */
  attempts: number;
  readonly settle: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
};

/** The queue of one actor. While `held` is true, the mailbox is in a batch and no other batch may claim it. */
export type Mailbox = { readonly ref: ActorRef; readonly queue: Waiting[]; held: boolean };

/** The maximum number of queued messages, per actor and in total. */
export type MailboxLimits = { readonly per_actor_max: number; readonly total_max: number };

export type Mailboxes = ReturnType<typeof createMailboxes>;

/** Creates the mailboxes of one process. */
export function createMailboxes(limits: MailboxLimits) {
  const boxes = new Map<string, Mailbox>();
  /** Mailboxes that have messages and are in no batch, in the order in which they became ready. */
  const ready = new Map<string, Mailbox>();
  let total = 0;

  /** Queues a message. Returns false when a limit is reached; the message is then not queued. */
  function put(waiting: Waiting): boolean {
    const key = refKey(waiting.envelope.to);
    const box = boxes.get(key) ?? { ref: waiting.envelope.to, queue: [], held: false };
    if (total >= limits.total_max || box.queue.length >= limits.per_actor_max) return false;
    boxes.set(key, box);
    box.queue.push(waiting);
    total += 1;
    if (!box.held) ready.set(key, box);
    return true;
  }

  /** Claims up to `actors_max` ready mailboxes for a batch. */
  function claim(actors_max: number): Mailbox[] {
    const claimed: Mailbox[] = [];
    for (const [key, box] of ready) {
      if (claimed.length >= actors_max) break;
      ready.delete(key);
      box.held = true;
      claimed.push(box);
    }
    return claimed;
  }

  /**
   * Claims the mailboxes of other actors for a unit. Creates missing mailboxes. If one is claimed already, claims none
   * and returns null.
   */
  function claimAlso(refs: readonly ActorRef[]): Mailbox[] | null {
    const wanted = refs.map((ref) => boxes.get(refKey(ref)) ?? { ref, queue: [], held: false });
    if (wanted.some((box) => box.held)) return null;
    for (const box of wanted) {
      boxes.set(refKey(box.ref), box);
      ready.delete(refKey(box.ref));
      box.held = true;
    }
    return wanted;
  }

  /** Ends a claim. A mailbox that still has messages becomes ready again, behind the other ready mailboxes. */
  function free(claimed: readonly Mailbox[]): void {
    for (const box of claimed) {
      const key = refKey(box.ref);
      box.held = false;
      if (box.queue.length > 0) ready.set(key, box);
      else boxes.delete(key);
    }
  }

  /** Removes messages of a claimed mailbox and returns them; the others keep their order. */
  function remove(box: Mailbox, messages: readonly Waiting[]): readonly Waiting[] {
    const gone = new Set(messages);
    const removed = box.queue.filter((each) => gone.has(each));
    const kept = removed.length === box.queue.length ? [] : box.queue.filter((each) => !gone.has(each));
    box.queue.splice(0, box.queue.length, ...kept);
    total -= removed.length;
    return removed;
  }

  return { put, claim, claimAlso, free, remove, ready: () => ready.size, queued: () => total };
}
