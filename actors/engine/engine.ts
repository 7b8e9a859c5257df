// The engine loads an actor, applies its queued messages to the loaded state and makes the result durable in a commit
// call. The engine sends no reply before that call has returned. After a lost race or a failed call, the engine loads
// the actor and applies the messages again. After three such attempts, the engine takes the actor's lock. The messages
// keep their ids, so a message that has already committed gets its stored reply.
import { type Fault, fault } from "../../src/contract/fault.ts";
import { createAnswers, type Item, type Written } from "./answers.ts";
import { createChains } from "./chains.ts";
import { createMailboxes, type Mailbox, type Waiting } from "./mailbox.ts";
import { ENGINE_LIMITS, type EngineLimits, type EngineOptions } from "./options.ts";
import { CommitError, type StoreSession, type Unit, type UnitResult } from "./store.ts";
import { type ActorRef, type AnyBehavior, type Message, type Origin, type Outcome, refKey, SYSTEM } from "./types.ts";
import { splitAtWave } from "./waves.ts";

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

/** Creates the engine of one process. */
export function createEngine(options: EngineOptions) {
  const { store, ports } = options;
  const limits: EngineLimits = { ...ENGINE_LIMITS, ...options.limits };
  const behaviors = new Map(options.behaviors.map((behavior) => [behavior.kind, behavior]));
  const boxes = createMailboxes(limits);
  const settle = createAnswers({ boxes, onCommit: options.onCommit });
  const stepBatch = createChains({ boxes, behavior, newId: ports.newId, chain_max: limits.chain_max });
  let calls = 0;
  let scheduled = false;

  function behavior(kind: string): AnyBehavior {
    const found = behaviors.get(kind);
    if (found === undefined) throw new Error(`unknown actor kind ${kind}`);
    return found;
  }

  /**
   * Sends a message and resolves with its outcome once the outcome is durable. Resolves with OVERLOADED if a queue is
   * full. Rejects after a bug, and with CommitError after a timeout, too many failed calls, or a broken constraint for
   * which no behavior has a fault. The outcome may then be unknown.
   */
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
   * Loads the actors, applies their messages and commits. Throws errors of the load.
   * - In a session of exclusive(): also throws errors of the commit call. Returns the written units, because their
   *   senders must wait until the transaction ends.
   * - In any other session: handles errors of the commit call, answers the senders, and returns an empty list.
   */
  async function attempt(claimed: readonly Mailbox[], session: StoreSession, messages_max: number): Promise<Written> {
    // A message that arrives during this load waits for the next load: the `now` of this load may be earlier than the
    // message.
    const queued = new Map(claimed.map((box) => [box, Math.min(messages_max, box.queue.length)]));
    const loaded = await session.load(claimed.map((box) => box.ref));
    await ports.fault("after_load");
    const held: Mailbox[] = [];
    try {
      const messagesOf = (box: Mailbox) => queued.get(box) ?? 1;
      const { items, waiting } = await stepBatch({ claimed, messagesOf, session, ...loaded, held });
      if (items.length > 0) return await commit(items, session);
      if (waiting) await ports.sleep(1 + ports.random() * 4);
      return [];
    } finally {
      boxes.free(held);
    }
  }

  async function commit(items: readonly Item[], session: StoreSession): Promise<Written> {
    const [first, rest] = splitAtWave(items, limits.waves_max);
    const written = await call(first, session);
    return rest.length === 0 ? written : [...written, ...await commit(rest, session)];
  }

  async function call(items: readonly Item[], session: StoreSession): Promise<Written> {
    let results: readonly UnitResult[];
    try {
      await ports.fault("before_commit");
      results = await session.commit(items.map((item) => item.unit));
      await ports.fault("after_commit");
    } catch (error) {
      // The error ended the transaction of exclusive(), so the caller of exclusive() must handle the error.
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

  /**
   * Splits the call into halves until each unit that fails is alone in its call. The next step depends on the failure:
   * - A unit that broke a constraint is repeated with its first message only. If that fails, the message is refused.
   * - A unit that was not written for a temporary reason, for example a lock, is repeated later.
   * - If the outcome is unknown, the whole call is repeated later.
   */
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

  /**
   * Refuses the message with the constraint's 409. If no behavior defines a fault for the constraint, the sender gets
   * the error. But if the constraint is a primary key, the message is first applied again, up to failures_max times.
   */
  async function refuseBroken(item: Item, error: CommitError): Promise<void> {
    const refusal = constraintFault(error.constraint, item.unit);
    const [waiting] = item.messages;
    if (waiting === undefined) return;
    if (item.unit.joined === true) {
      // The cause may be in a tell's receiver, whose decision joined this unit. That decision must not fail the
      // sender's message. In a retry, no receiver's decision joins the unit (see Tell).
      waiting.attempts += 1;
      return void await attempt([item.box], store, 1);
    }
    if (refusal === null) {
      waiting.attempts += 1;
      // Since the load, another process has created this row or stored this message id. The next attempt loads again
      // and looks up the id.
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

  function isTwin(error: CommitError): boolean {
    return /_pkey$/.test(error.constraint ?? "");
  }

  function constraintFault(constraint: string | null, { choices }: Unit): Fault | null {
    if (constraint === null) return null;
    const written = choices.flatMap((choice) => choice.rows);
    const named = [...behaviors.values()].filter((each) => each.constraints?.[constraint] !== undefined);
    // A foreign key connects two kinds, and both may have a text for it. The text of the written row's kind has
    // priority.
    const behavior = named.find(({ kind }) => written.some(({ ref }) => ref.kind === kind)) ?? named[0];
    const found = behavior?.constraints?.[constraint];
    if (found === undefined) return null;
    // Rows of the unit's other actors may have columns with the same names, so this behavior's rows come first.
    const rows = written
      .toSorted((a, b) => Number(b.ref.kind === behavior?.kind) - Number(a.ref.kind === behavior?.kind))
      .map(({ row, whole }) => whole ?? row);
    const message = found.message.replace(
      /<(\w+)>/g,
      (whole, column) => String(rows.find((row) => column in row)?.[column] ?? whole),
    );
    return { ...found, message };
  }

  /**
   * Keeps the messages queued, marks them as possibly committed, and waits before the next attempt. Messages that
   * failed too often get the error. All messages get the error after a bug, or if the database did not answer in time.
   */
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

  /** Returns whether nothing is queued or in flight. A process that shuts down waits for this. */
  function idle(): boolean {
    return boxes.queued() === 0 && calls === 0;
  }

  return { send, idle, queued: boxes.queued, kinds: [...behaviors.keys()], refKey };
}
