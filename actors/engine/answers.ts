// Answers the messages of committed units (Unit in store.ts). A message leaves its mailbox when it gets its answer. The
// messages of a unit that was not written stay in their mailbox.
import type { Mailbox, Mailboxes, Waiting } from "./mailbox.ts";
import type { Committed } from "./options.ts";
import type { Choice, StoredReply, Unit, UnitResult } from "./store.ts";
import type { Outcome } from "./types.ts";

/** The units of a commit call, each with its result. The senders of the messages have no answer yet. */
export type Written = readonly (readonly [Item, UnitResult])[];

/** A unit of a claimed mailbox in a commit call, and the messages that it answers. */
export type Item = {
  readonly box: Mailbox;
  readonly unit: Unit;
  readonly messages: readonly Waiting[];
  /** The time of the database's clock when the actors were loaded. */
  readonly now: Date;
};

type Answering = { readonly boxes: Mailboxes; readonly onCommit: ((committed: Committed) => void) | undefined };

/** Returns the function that answers the messages of a commit call, unit by unit. */
export function createAnswers({ boxes, onCommit }: Answering) {
  return function settle(written: Written): void {
    // Each unit of a chain builds on the rows of the unit before it. If a unit was not written, or was written with an
    // alternative, the units after it in the chain conflict. Their conflicts do not count as attempts.
    const broken = new Set<Mailbox>();
    for (const [item, result] of written) {
      if (result.status === "conflict" && broken.has(item.box)) continue;
      if (result.status !== "done" || result.choice !== 0) broken.add(item.box);
      settleItem(item, result);
    }
  };

  function settleItem(item: Item, result: UnitResult): void {
    switch (result.status) {
      case "done": {
        const replies = new Map(
          (result.replies ?? item.unit.choices[result.choice]?.replies ?? []).map((each) => [each.msg_id, each.reply]),
        );
        for (const waiting of boxes.remove(item.box, item.messages)) {
          const stored = replies.get(waiting.envelope.id);
          if (stored === undefined) waiting.fail(new Error("a message was committed without a reply"));
          else waiting.settle(outcomeOf(stored));
        }
        onCommit?.(committedOf(item, item.unit.choices[result.choice]));
        return;
      }
      case "conflict":
        if (item.unit.partial === true) item.messages.forEach(askAlternatives);
        for (const waiting of item.messages) waiting.attempts += 1;
        return;
      case "known": {
        const replies = new Map(result.replies.map((each) => [each.msg_id, each.reply]));
        // The other messages of the unit were not written and stay in the mailbox.
        const answered = item.messages.filter(({ envelope }) => replies.has(envelope.id));
        for (const waiting of boxes.remove(item.box, answered)) {
          const stored = replies.get(waiting.envelope.id);
          if (stored !== undefined) waiting.settle(outcomeOf(stored));
        }
        return;
      }
    }
  }
}

function askAlternatives(waiting: Waiting): void {
  waiting.envelope = { ...waiting.envelope, alternatives: true };
}

function committedOf({ unit, now }: Item, choice: Choice | undefined): Committed {
  const rows = choice?.rows ?? [];
  const allocates = choice?.conditions.some((condition) => condition.do === "allocate") ?? false;
  return {
    refs: unit.actors.map((each) => each.ref),
    rows,
    tells: allocates && choice!.outbox.length > 0 ? null : choice?.outbox ?? [],
    due: rows.filter(({ row: { wake_at } }) => wake_at instanceof Date && wake_at <= now).map(({ ref }) => ref),
  };
}

function outcomeOf(stored: StoredReply): Outcome {
  return "ok" in stored ? { ok: true, reply: stored.ok } : { ok: false, fault: stored.fault };
}
