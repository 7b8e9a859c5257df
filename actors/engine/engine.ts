// The engine loads an actor, steps its queued messages on the loaded state and makes the result durable in one commit
// call. It sends no reply before that call has returned. After a lost race it loads and steps again; after three it
// takes the actor's lock. After a broken connection it repeats the call with the same message ids, and the commit call
// answers those that it has stored.
import { type Fault, fault } from "../../src/contract/fault.ts";
import { fold, type Link } from "./fold.ts";
import { createMailboxes, type Mailbox, type MailboxLimits, type Waiting } from "./mailbox.ts";
import type { Ports } from "./ports.ts";
import {
  type Choice,
  CommitError,
  type LoadedActor,
  type OutboxRow,
  type RowWrite,
  type Store,
  type StoredReply,
  type StoreSession,
  type Unit,
  type UnitResult,
} from "./store.ts";
import { type ActorRef, type AnyBehavior, type Message, type Origin, type Outcome, refKey, SYSTEM } from "./types.ts";
import { wavesOf } from "./waves.ts";

/** The limits of one process: queues, batches, retries. */
export type EngineLimits = MailboxLimits & {
  /** Actors in one commit call. */
  readonly units_max: number;
  /** Messages of one actor in one commit call. */
  readonly messages_max: number;
  /** Units of one actor in one commit call. */
  readonly chain_max: number;
  /** Waves in one commit call. It bounds how long a call holds its locks: a wave takes about a millisecond. */
  readonly waves_max: number;
  readonly calls_in_flight_max: number;
  /** Lost races before the actor's lock is taken. */
  readonly races_max: number;
  /** Failed calls before the sender gets the error. */
  readonly failures_max: number;
};

/** The defaults, our decision. */
const ENGINE_LIMITS: EngineLimits = {
  per_actor_max: 2_000,
  total_max: 20_000,
  units_max: 512,
  messages_max: 256,
  chain_max: 32,
  waves_max: 32,
  calls_in_flight_max: 2,
  races_max: 3,
  failures_max: 8,
};

/** The writes of a durable unit. */
export type Committed = {
  readonly refs: readonly ActorRef[];
  /** An allocated value is still its token here. */
  readonly rows: readonly RowWrite[];
  /** Null if an allocation may have changed them: then only the outbox has them. */
  readonly tells: readonly OutboxRow[] | null;
  /** The actors whose deadline had passed when the unit was loaded. */
  readonly due: readonly ActorRef[];
};

/** The parts of an engine. It calls `onCommit` for each unit once the unit is durable. */
export type EngineOptions = {
  readonly store: Store;
  readonly behaviors: readonly AnyBehavior[];
  readonly ports: Ports;
  readonly limits?: Partial<EngineLimits>;
  readonly onCommit?: (committed: Committed) => void;
};

/** The id and the origin of a message. The default origin is the server itself. */
export type SendOptions = {
  /** The message id; created when absent. Sending the same id again returns the same answer. */
  readonly id?: string;
  /** True when no earlier attempt can have committed this id. Default: true for an id that is created here. */
  readonly fresh?: boolean;
  readonly origin?: Origin;
};

export type Engine = ReturnType<typeof createEngine>;

/** 503: a queue is full. The message had no effect. */
export const OVERLOADED = fault("unavailable", "the server is busy; try again", { retry_after_s: 1 });

/** Committed units whose senders have no answer yet. */
type Written = readonly (readonly [Item, UnitResult])[];

/** A unit of a claimed mailbox in a commit call, and the messages that it answers. */
type Item = {
  readonly box: Mailbox;
  readonly unit: Unit;
  readonly messages: readonly Waiting[];
  /** The database's clock at the load. */
  readonly now: Date;
};

/** Creates the engine of one process. */
export function createEngine(options: EngineOptions) {
  const { store, ports } = options;
  const limits: EngineLimits = { ...ENGINE_LIMITS, ...options.limits };
  const behaviors = new Map(options.behaviors.map((behavior) => [behavior.kind, behavior]));
  const boxes = createMailboxes(limits);
  let calls = 0;
  let scheduled = false;

  function behavior(kind: string): AnyBehavior {
    const found = behaviors.get(kind);
    if (found === undefined) throw new Error(`unknown actor kind ${kind}`);
    return found;
  }

  /** Sends a message and resolves with its durable outcome. Rejects with CommitError when the outcome is unknown. */
  function send(to: ActorRef, message: Message, how: SendOptions = {}): Promise<Outcome> {
    behavior(to.kind);
    return new Promise((settle, fail) => {
      const id = how.id ?? ports.newId();
      const envelope = { id, to, message, origin: how.origin ?? SYSTEM, fresh: how.fresh ?? how.id === undefined };
      if (!boxes.put({ envelope, attempts: 0, settle, fail })) return settle({ ok: false, fault: OVERLOADED });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled || calls >= limits.calls_in_flight_max || boxes.ready() === 0) return;
    scheduled = true;
    ports.soon(() => {
      scheduled = false;
      if (calls >= limits.calls_in_flight_max) return;
      const claimed = boxes.claim(limits.units_max);
      if (claimed.length === 0) return;
      calls += 1;
      run(claimed).catch((error) => ports.report("a batch failed", error)).finally(() => {
        calls -= 1;
        schedule();
      });
      schedule();
    });
  }

  async function run(claimed: readonly Mailbox[]): Promise<void> {
    const starving = claimed.filter((box) => (box.queue[0]?.attempts ?? 0) >= limits.races_max);
    const others = claimed.filter((box) => !starving.includes(box));
    try {
      if (others.length > 0) await attempt(others, store, limits.messages_max);
    } catch (error) {
      await repeatLater(others, error);
    } finally {
      boxes.free(others);
    }
    for (const box of starving) {
      try {
        const written = await store.exclusive(box.ref, (session) => attempt([box], session, limits.messages_max));
        // The transaction is durable only now.
        settle(written);
        await ports.fault("after_reply");
      } catch (error) {
        await afterExclusive(box, error);
      } finally {
        boxes.free([box]);
      }
    }
  }

  async function afterExclusive(box: Mailbox, error: unknown): Promise<void> {
    if (!(error instanceof CommitError) || error.reason !== "constraint") return await repeatLater([box], error);
    try {
      await attempt([box], store, 1);
    } catch (again) {
      await repeatLater([box], again);
    }
  }

  /**
   * Loads, steps and commits. Throws errors of the load; handles errors of the commit call. Returns the units that a
   * session of exclusive() wrote: their senders wait until its transaction ends.
   */
  async function attempt(claimed: readonly Mailbox[], session: StoreSession, messages_max: number): Promise<Written> {
    // Messages queued during the load wait for the next one: the loaded clock would be older than they are.
    const queued = new Map(claimed.map((box) => [box, Math.min(messages_max, box.queue.length)]));
    const loaded = await session.load(claimed.map((box) => box.ref));
    await ports.fault("after_load");
    const actors = new Map(loaded.actors);
    const items: Item[] = [];
    const held: Mailbox[] = [];
    let waiting = false;
    try {
      for (const box of claimed) {
        const folded = await foldBox(box, {
          actors,
          now: loaded.now,
          session,
          messages_max: queued.get(box) ?? 1,
          held,
        });
        items.push(...folded);
        waiting ||= folded.length === 0;
      }
      if (waiting) await ports.sleep(1 + ports.random() * 4);
      return items.length > 0 ? await commit(items, session) : [];
    } finally {
      boxes.free(held);
    }
  }

  type FoldWith = {
    readonly actors: Map<string, LoadedActor>;
    readonly now: Date;
    readonly session: StoreSession;
    readonly messages_max: number;
    /** Mailboxes claimed for other actors of a unit; freed by the caller. */
    readonly held: Mailbox[];
  };

  /** Returns no item when another actor of the first unit is already in a batch; the message then waits. */
  async function foldBox(box: Mailbox, given: FoldWith): Promise<readonly Item[]> {
    for (;;) {
      const queue = box.queue.slice(0, given.messages_max).map((waiting) => waiting.envelope);
      let folded;
      try {
        const isRetry = (box.queue[0]?.attempts ?? 0) > 0;
        const how = { newId: ports.newId, chain_max: limits.chain_max, isRetry };
        folded = fold({ ...given, ...how, ref: box.ref, queue, behavior });
      } catch (error) {
        boxes.remove(box, box.queue.slice(0, 1)).forEach((broken) => broken.fail(error));
        return [];
      }
      if ("chain" in folded) return itemsOf(box, folded.chain, given.now);
      const claimed = boxes.claimAlso(folded.needs);
      if (claimed === null) return [];
      given.held.push(...claimed);
      const more = await given.session.load(folded.needs);
      for (const [key, actor] of more.actors) given.actors.set(key, actor);
    }
  }

  function itemsOf(box: Mailbox, chain: readonly Link[], now: Date): readonly Item[] {
    let from = 0;
    return chain.map(({ unit, messages }) => ({ box, unit, messages: box.queue.slice(from, from += messages), now }));
  }

  async function commit(items: readonly Item[], session: StoreSession): Promise<Written> {
    const waves = wavesOf(items.map((item) => item.unit));
    const now = items.filter((_, index) => (waves[index] ?? 0) < limits.waves_max);
    if (now.length === items.length) return await call(items, session);
    const later = items.filter((_, index) => (waves[index] ?? 0) >= limits.waves_max);
    return [...await call(now, session), ...await commit(later, session)];
  }

  async function call(items: readonly Item[], session: StoreSession): Promise<Written> {
    let results: readonly UnitResult[];
    try {
      await ports.fault("before_commit");
      results = await session.commit(items.map((item) => item.unit));
      await ports.fault("after_commit");
    } catch (error) {
      // The error ended the transaction of exclusive(), so its caller must handle it.
      if (session !== store) throw error;
      await afterFailedCommit(items, error);
      return [];
    }
    const written = items.flatMap((item, index): Written => {
      const result = results[index];
      return result === undefined ? [] : [[item, result]];
    });
    if (session !== store) return written;
    settle(written);
    await ports.fault("after_reply");
    return [];
  }

  /** Halves the call until the unit that broke a constraint, or waits for a lock, is alone in it. */
  async function afterFailedCommit(items: readonly Item[], error: unknown): Promise<void> {
    const known = error instanceof CommitError && error.reason !== "unknown" ? error : null;
    if (known !== null && items.length > 1) {
      const middle = items.length >> 1;
      await commit(items.slice(0, middle), store);
      await commit(items.slice(middle), store);
      return;
    }
    const [item] = items;
    if (known === null || known.reason === "busy" || item === undefined) {
      return await repeatLater([...new Set(items.map((each) => each.box))], error);
    }
    if (item.messages.length > 1) return void await attempt([item.box], store, 1);
    await refuseBroken(item, known);
  }

  /** Refuses the message with the constraint's 409. The refusal is stored like any other. */
  async function refuseBroken(item: Item, error: CommitError): Promise<void> {
    const refusal = constraintFault(error.constraint, item.unit);
    const [waiting] = item.messages;
    if (waiting === undefined) return;
    if (refusal === null) {
      waiting.attempts += 1;
      // Another process created this row, or stored this message id, since the load: load again and look up the id.
      if (isTwin(error) && waiting.attempts <= limits.failures_max) return markStale(waiting);
      boxes.remove(item.box, [waiting]);
      return waiting.fail(error);
    }
    const reply = { msg_id: waiting.envelope.id, reply: { fault: refusal } };
    const choice = { conditions: [], rows: [], children: [], transitions: [], replies: [reply], outbox: [] };
    await commit([{ ...item, unit: { ...item.unit, choices: [choice] } }], store);
  }

  function markStale(waiting: Waiting): void {
    waiting.envelope = { ...waiting.envelope, fresh: false };
  }

  function askAlternatives(waiting: Waiting): void {
    waiting.envelope = { ...waiting.envelope, alternatives: true };
  }

  function isTwin(error: CommitError): boolean {
    return /_pkey$/.test(error.constraint ?? "");
  }

  function constraintFault(constraint: string | null, { choices }: Unit): Fault | null {
    if (constraint === null) return null;
    for (const each of behaviors.values()) {
      const found = each.constraints?.[constraint];
      if (found === undefined) continue;
      const rows = choices.flatMap((choice) => choice.rows.map(({ row }) => row));
      const message = found.message.replace(
        /<(\w+)>/g,
        (whole, column) => String(rows.find((row) => column in row)?.[column] ?? whole),
      );
      return { ...found, message };
    }
    return null;
  }

  function settle(written: Written): void {
    // The rest of a chain whose earlier unit was not written was decided on rows that do not exist: no race was lost.
    const broken = new Set<Mailbox>();
    for (const [item, result] of written) {
      if (result.status === "conflict" && broken.has(item.box)) continue;
      if (result.status !== "done" || result.choice !== 0) broken.add(item.box);
      settleItem(item, result);
    }
  }

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
        options.onCommit?.(committedOf(item, item.unit.choices[result.choice]));
        return;
      }
      case "conflict":
        if (item.unit.partial === true) item.messages.forEach(askAlternatives);
        for (const waiting of item.messages) waiting.attempts += 1;
        return;
      case "known": {
        const replies = new Map(result.replies.map((each) => [each.msg_id, each.reply]));
        // The other messages of the unit were not written and keep their place.
        const answered = item.messages.filter(({ envelope }) => replies.has(envelope.id));
        for (const waiting of boxes.remove(item.box, answered)) {
          const stored = replies.get(waiting.envelope.id);
          if (stored !== undefined) waiting.settle(outcomeOf(stored));
        }
        return;
      }
    }
  }

  /** Keeps the messages queued, marks them as possibly committed, and waits before the next attempt. */
  async function repeatLater(claimed: readonly Mailbox[], error: unknown): Promise<void> {
    if (!(error instanceof CommitError)) {
      ports.report("a batch met a bug", error);
      for (const box of claimed) {
        for (const waiting of boxes.remove(box, [...box.queue])) waiting.fail(error);
      }
      return;
    }
    let tries = 1;
    for (const box of claimed) {
      for (const waiting of box.queue) {
        markStale(waiting);
        waiting.attempts += 1;
      }
      tries = Math.max(tries, box.queue[0]?.attempts ?? 0);
      const kept = error.silent ? -1 : box.queue.findIndex((waiting) => waiting.attempts <= limits.failures_max);
      const lost = box.queue.slice(0, kept < 0 ? box.queue.length : kept);
      for (const waiting of boxes.remove(box, lost)) waiting.fail(error);
    }
    await ports.sleep(Math.min(500, 5 * 2 ** tries) * (0.5 + ports.random()));
  }

  /** Returns whether nothing is queued or in flight. A drain waits for this. */
  function idle(): boolean {
    return boxes.queued() === 0 && calls === 0;
  }

  return { send, idle, queued: boxes.queued, kinds: [...behaviors.keys()], refKey };
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
