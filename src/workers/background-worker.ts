// Background work: delivers tells, runs timers and sagas, extends the audit chain, does maintenance. Every pass is
// idempotent, so any number of processes may run it. Three things start a pass: a nudge after a commit, the loop of a
// running process, and a call of pass() from outside (the cron entry of a host that stops idle processes).
import type { Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { Store } from "../../actors/engine/store.ts";
import type { ActorRef, Outcome } from "../../actors/engine/types.ts";

export type BackgroundWorkerOptions = {
  readonly store: Store;
  readonly engine: Engine;
  readonly ports: Ports;
  /** Actor kinds that have deadlines. */
  readonly timed: readonly string[];
  /** Returns whether this build has the saga. An unknown saga waits for a build that has it. */
  readonly knowsSaga: (name: string) => boolean;
  /** Appends pending events to the audit chain. */
  readonly chain: () => Promise<unknown>;
  /** Maintenance that runs rarely: partitions, old rows. */
  readonly maintain: () => Promise<unknown>;
  readonly every_ms?: number;
  readonly maintenance_every_ms?: number;
};

export type BackgroundWorker = ReturnType<typeof createBackgroundWorker>;

/** Rows per batch; a pass continues while batches are full. */
const BATCH_ROWS = 200;
const EVERY_MS = 500;
/** Minimum pause between two passes. */
const GAP_MS = 25;
const MAINTENANCE_EVERY_MS = 60_000;

/** Creates the background worker of one process. */
export function createBackgroundWorker(options: BackgroundWorkerOptions) {
  const { store, engine, ports } = options;
  const every_ms = options.every_ms ?? EVERY_MS;
  let stopped = false;
  let wanted = false;
  let passing: Promise<void> | null = null;
  let wake: (() => void) | null = null;

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

  /**
   * Delivers tells, then deletes them. A tell may be delivered twice, but its message id lets it take effect only once.
   */
  async function deliver(): Promise<void> {
    for (;;) {
      const batch = await store.outbox(BATCH_ROWS);
      const sent = await Promise.allSettled(batch.map(({ id, to, message }) => engine.send(to, message, { id })));
      const done = batch.filter((_, index) => wasHeard(sent[index])).map(({ id }) => id);
      if (done.length > 0) await store.delivered(done);
      if (done.length < BATCH_ROWS) return;
    }
  }

  async function tick(kind: string): Promise<void> {
    const due = await store.due(kind, BATCH_ROWS);
    if (due.length === 0) return;
    if (kind === "saga") await Promise.all(due.map((ref) => advance(ref)));
    else await Promise.all(due.map((ref) => engine.send(ref, { type: "tick" })));
    if (due.length === BATCH_ROWS) wanted = true;
  }

  /** Runs a saga until it ends or waits. If a step is rejected, sends the reason to the saga, which then rolls back. */
  async function advance(ref: ActorRef): Promise<void> {
    for (;;) {
      const { actors } = await store.load([ref]);
      const state = actors.get(`${ref.kind}:${ref.id}`)?.state;
      if (state === null || state === undefined || !options.knowsSaga(String(state["saga"]))) return;
      const outcome = await engine.send(ref, { type: "tick" });
      // A full queue does not reject the step; the next pass retries it.
      if (!outcome.ok && outcome.fault.kind === "unavailable") return;
      if (!outcome.ok) {
        await engine.send(ref, { type: "step_refused", step: String(state["step"]), reason: outcome.fault.message });
      }
      const after = (await store.load([ref])).actors.get(`${ref.kind}:${ref.id}`)?.state;
      const moved = after?.["step"] !== state["step"] || after?.["state"] !== state["state"];
      if (!moved || (after?.["state"] !== "running" && after?.["state"] !== "unwinding")) return;
    }
  }

  /** Requests a pass soon. Several nudges share one pass. */
  function nudge(): void {
    wanted = true;
    wake?.();
  }

  async function loop(): Promise<void> {
    let maintained = false;
    let since_maintenance_ms = 0;
    while (!stopped) {
      wanted = false;
      passing = pass();
      await passing;
      if (!maintained || since_maintenance_ms >= (options.maintenance_every_ms ?? MAINTENANCE_EVERY_MS)) {
        await guarded("maintenance", options.maintain);
        maintained = true;
        since_maintenance_ms = 0;
      }
      await ports.sleep(GAP_MS);
      if (wanted || stopped) continue;
      await Promise.race([ports.sleep(every_ms), new Promise<void>((resolve) => (wake = resolve))]);
      wake = null;
      since_maintenance_ms += every_ms;
    }
  }

  let running: Promise<void> | null = null;
  return {
    pass,
    nudge,
    start: () => {
      running ??= loop();
    },
    stop: async () => {
      stopped = true;
      wake?.();
      await running;
    },
  };
}

/**
 * Returns whether the receiver has processed the tell. A rejection counts as processed; a full queue does not, so the
 * next pass repeats the tell.
 */
function wasHeard(sent: PromiseSettledResult<Outcome> | undefined): boolean {
  return sent?.status === "fulfilled" && (sent.value.ok || sent.value.fault.kind !== "unavailable");
}
