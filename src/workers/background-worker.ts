// Does the background work: delivers tells (messages between actors), runs timers and sagas, extends the audit chain,
// does maintenance. If a commit of this process makes a tell or a timer due, the work begins at once (follow). A pass
// does the work that any process made due, except maintenance. So it also does work that an error or the end of a
// process interrupted. Every pass is idempotent, so any number of processes may run passes. The loop of a running
// process starts passes and maintenance. If the host stops idle processes, another program, such as a cron job, can
// also start passes.
import type { Engine } from "../../actors/engine/engine.ts";
import type { Committed } from "../../actors/engine/options.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { LoadedActor, OutboxRow, Store } from "../../actors/engine/store.ts";
import { type ActorRef, type Outcome, refKey } from "../../actors/engine/types.ts";

export type BackgroundWorkerOptions = {
  readonly store: Store;
  readonly engine: Engine;
  readonly ports: Ports;
  /** Actor kinds that have deadlines. */
  readonly timed: readonly string[];
  /** Returns whether this build has the saga. An unknown saga waits for a build that has it. */
  readonly knowsSaga: (name: string) => boolean;
  /** Appends events that are pending to the audit chain. */
  readonly chain: () => Promise<unknown>;
  /** Maintenance that runs rarely: creates partitions, deletes old rows. */
  readonly maintain: () => Promise<unknown>;
  readonly every_ms?: number;
  readonly maintenance_every_ms?: number;
};

export type BackgroundWorker = ReturnType<typeof createBackgroundWorker>;

/**
 * Rows per batch. After a full batch, another batch follows in this pass or the next. If no row of a full batch made
 * progress, the next batch has twice as many rows. A batch of the same size would contain the same rows again, and
 * these rows would delay the rows after them.
 */
const BATCH_ROWS = 200;
/** The pause between two passes if no pass is requested in between. */
const EVERY_MS = 500;
/** The shortest pause between two passes. */
const GAP_MS = 25;
/** The time between two runs of maintenance. */
const MAINTENANCE_EVERY_MS = 60_000;
/** How long delivered outbox rows wait before one statement deletes them together. A pass deletes its rows at once. */
const FORGET_MS = 50;

/** Creates the background worker of one process. */
export function createBackgroundWorker(options: BackgroundWorkerOptions) {
  const { store, engine, ports } = options;
  const every_ms = options.every_ms ?? EVERY_MS;
  let stopped = false;
  let wanted = false;
  let passing: Promise<void> | null = null;
  let wake: (() => void) | null = null;
  /** The outbox rows that this process delivers now, or has delivered but not yet deleted. A pass skips these rows. */
  const delivering = new Set<string>();
  /** The ids of delivered outbox rows that are not deleted yet. */
  const heard: string[] = [];
  let forgetting: Promise<void> | null = null;
  /** The sagas that run because a commit made them due. `again` is true if a later commit made the saga due again. */
  const advancing = new Map<string, { again: boolean }>();
  /** The work that began after commits of this process and has not ended. */
  const following = new Set<Promise<void>>();

  /** Runs one pass over all due work. An error in one part does not stop the others. */
  async function pass(): Promise<void> {
    await guarded("tells", deliver);
    for (const kind of options.timed) await guarded(`timers of ${kind}`, () => tick(kind));
    await guarded("audit chain", options.chain);
  }

  async function guarded(part: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      ports.report(`background work failed: ${part}`, error);
    }
  }

  /** Delivers the tells in the outbox that this process is not already delivering. */
  async function deliver(): Promise<void> {
    const tried = new Set<string>();
    for (let limit = BATCH_ROWS;;) {
      const batch = await store.outbox(limit);
      const tells = batch.filter(({ id }) => !delivering.has(id) && !tried.has(id));
      for (const { id } of tells) tried.add(id);
      const done = await send(tells, store.delivered);
      if (batch.length < limit) return;
      if (done === 0) limit *= 2;
    }
  }

  /**
   * Delivers tells, then deletes the delivered tells from the outbox. A tell may be delivered twice, but takes effect
   * only once because of its message id. Returns the number of delivered tells.
   */
  async function send(tells: readonly OutboxRow[], forget: Store["delivered"]): Promise<number> {
    for (const { id } of tells) delivering.add(id);
    try {
      const sent = await Promise.allSettled(tells.map(({ id, to, message }) => engine.send(to, message, { id })));
      const done = tells.filter((_, index) => wasHeard(sent[index])).map(({ id }) => id);
      if (done.length > 0) await forget(done);
      return done.length;
    } finally {
      for (const { id } of tells) delivering.delete(id);
    }
  }

  /** Deletes delivered outbox rows after FORGET_MS, in one statement with the rows of other calls. */
  async function forgetLater(ids: readonly string[]): Promise<void> {
    heard.push(...ids);
    forgetting ??= ports.sleep(FORGET_MS).then(() => {
      forgetting = null;
      return store.delivered(heard.splice(0));
    });
    await forgetting;
  }

  async function tick(kind: string): Promise<void> {
    const run = kind === "saga" ? advance : async (ref: ActorRef) => (await ticked(ref)).ok;
    const tried = new Set<string>();
    for (let limit = BATCH_ROWS;; limit *= 2) {
      const due = await store.due(kind, limit);
      const next = due.filter((ref) => !tried.has(refKey(ref)));
      for (const ref of next) tried.add(refKey(ref));
      const moved = await Promise.all(next.map(run));
      if (due.length < limit) return;
      if (moved.includes(true)) return void (wanted = true);
    }
  }

  /**
   * Runs a saga until it ends or waits. The message `tick` runs the next step. If a step is rejected, sends the reason
   * to the saga, which then rolls back. Returns false if no `tick` was sent, or if a full queue refused the first one.
   */
  async function advance(ref: ActorRef): Promise<boolean> {
    for (let before: LoadedActor["state"] = null;;) {
      const { actors, now } = await store.load([ref]);
      const state = actors.get(refKey(ref))?.state ?? null;
      const has_moved = before !== null;
      if (state === null || !isDue(state, now) || !options.knowsSaga(String(state["saga"]))) return has_moved;
      if (state["step"] === before?.["step"] && state["state"] === before?.["state"]) return has_moved;
      const outcome = await ticked(ref);
      // A full queue does not reject the step; the next pass retries it.
      if (!outcome.ok && outcome.fault.kind === "unavailable") return has_moved;
      if (!outcome.ok) {
        await engine.send(ref, { type: "step_refused", step: String(state["step"]), reason: outcome.fault.message });
      }
      before = state;
    }
  }

  /**
   * Does at once the work that a commit of this process made due: its tells, its sagas and its other timers. If the
   * tells are known only in the database, requests a pass instead of delivering them.
   */
  function follow({ tells, due }: Committed): void {
    if (stopped) return;
    if (tells === null) nudge();
    else if (tells.length > 0) begin("tells", () => send(tells, forgetLater));
    for (const ref of due) begin(`timers of ${ref.kind}`, () => ref.kind === "saga" ? advanceOnce(ref) : ticked(ref));
  }

  function begin(part: string, work: () => Promise<unknown>): void {
    const done = guarded(part, work).finally(() => following.delete(done));
    following.add(done);
  }

  const ticked = (ref: ActorRef) => engine.send(ref, { type: "tick" });

  /**
   * Runs a saga. If the saga is already running, runs it once more afterwards, because it may have been loaded before
   * the latest commit.
   */
  async function advanceOnce(ref: ActorRef): Promise<void> {
    const key = refKey(ref);
    const running = advancing.get(key);
    if (running !== undefined) return void (running.again = true);
    const mine = { again: true };
    advancing.set(key, mine);
    try {
      while (mine.again && !stopped) {
        mine.again = false;
        await advance(ref);
      }
    } finally {
      advancing.delete(key);
    }
  }

  /** Requests a pass soon. Several nudges share one pass. */
  function nudge(): void {
    wanted = true;
    wake?.();
  }

  async function loop(): Promise<void> {
    let maintained_ms = -Infinity;
    while (!stopped) {
      wanted = false;
      passing = pass();
      await passing;
      if (performance.now() - maintained_ms >= (options.maintenance_every_ms ?? MAINTENANCE_EVERY_MS)) {
        await guarded("maintenance", options.maintain);
        maintained_ms = performance.now();
      }
      await ports.sleep(GAP_MS);
      if (wanted || stopped) continue;
      await Promise.race([ports.sleep(every_ms), new Promise<void>((resolve) => (wake = resolve))]);
      wake = null;
    }
  }

  let running: Promise<void> | null = null;
  return {
    pass,
    follow,
    nudge,
    start: () => {
      running ??= loop();
    },
    stop: async () => {
      stopped = true;
      wake?.();
      await running;
      await Promise.all(following);
    },
  };
}

/** Returns whether a saga has something to do now. */
function isDue(saga: NonNullable<LoadedActor["state"]>, now: Date): boolean {
  const moves = saga["state"] === "running" || saga["state"] === "unwinding";
  return moves && saga["due_at"] instanceof Date && saga["due_at"] <= now;
}

/**
 * Returns whether the receiver has processed the tell. A rejected tell counts as processed. A tell that a full queue
 * refused does not count, so the next pass repeats the tell.
 */
function wasHeard(sent: PromiseSettledResult<Outcome> | undefined): boolean {
  return sent?.status === "fulfilled" && (sent.value.ok || sent.value.fault.kind !== "unavailable");
}
