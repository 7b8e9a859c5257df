// Runs one process of the control plane: the production engine and background worker on the simulated database. A dead
// process gets and sends no answers, but database calls that it sent before may still take effect.
import { createEngine, type Engine } from "../../actors/engine/engine.ts";
import type { Committed } from "../../actors/engine/options.ts";
import type { FaultPoint, Ports } from "../../actors/engine/ports.ts";
import { CommitError, type Store, type StoreSession, type Unit, type UnitResult } from "../../actors/engine/store.ts";
import { type BackgroundWorker, createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { hash32, seededId, stream } from "./chance.ts";
import { fateIn, latencyMs } from "./fate.ts";
import { behaviors, draw, earlierBehaviors, type Environment, knowsSaga, later } from "./environment.ts";

export type Process = {
  readonly index: number;
  /** The number of processes that the run started before this one. */
  readonly run: number;
  readonly engine: Engine;
  readonly worker: BackgroundWorker;
  alive: boolean;
  /** The point at which the process will die, and how long its slot then stays empty; null without a planned crash. */
  doom: { readonly point: FaultPoint; readonly down_ms: number } | null;
  /** The last id that the process's engine created. */
  minted: string;
  /** Callbacks that break the clients' connections when the process dies. */
  readonly clients: Set<() => void>;
  readonly die: () => void;
};

/**
 * Returns a promise that never settles. Each waiter gets its own promise: a shared promise would keep the memory of all
 * processes that ever waited for it.
 */
const never = () => new Promise<never>(() => {});

export function createProcess(
  environment: Environment,
  place: { readonly index: number; readonly run: number },
  onDoom: (process: Process, down_ms: number) => void,
): Process {
  const random = stream(hash32(`process ${place.run}`, environment.plan.seed));
  let end: (error: Error) => void = () => {};
  const death = new Promise<never>((_, reject) => (end = reject));
  death.catch(() => {});

  const ports: Ports = {
    newId: () => {
      const [high, low] = [random() * 2 ** 32, random() * 2 ** 32];
      process.minted = seededId(environment.scheduler.now_ms(), Math.floor(high), Math.floor(low));
      return process.minted;
    },
    random,
    sleep: (ms) => whileAlive(later(environment, ms, undefined)),
    soon: (task) => environment.scheduler.after(0, () => process.alive && task()),
    fault: (point) => {
      if (process.doom?.point !== point || !process.alive) return process.alive ? undefined : never();
      environment.counters[`crash_${point}`] += 1;
      onDoom(process, process.doom.down_ms);
      return never();
    },
    report: (message, error) => {
      if (!(error instanceof CommitError)) environment.journal.bugs.push(`${message}: ${String(error)}`);
    },
  };

  /** Settles like `work`, but never if the process is dead by then. */
  function whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then((value) => process.alive && resolve(value), (error) => process.alive && reject(error));
    });
  }

  /**
   * Resolves like `work` after the delay of the database's answer, or rejects like `work` without a delay. Never
   * settles if the process is dead by then.
   */
  async function answer<T>(purpose: string, work: Promise<T>): Promise<T> {
    try {
      const value = await work;
      return await whileAlive(later(environment, latencyMs(environment, purpose), value));
    } catch (error) {
      return await whileAlive(Promise.reject(error));
    }
  }

  const database = environment.database.seenBy(fateIn(environment));

  async function counted(units: readonly Unit[], work: Promise<readonly UnitResult[]>) {
    try {
      const results = await work;
      for (const result of results) count(environment, result);
      units.forEach(({ joined }, n) => {
        if (joined === true && results[n]?.status === "done") environment.counters.tell_joined += 1;
      });
      countChains(environment, units, results);
      return results;
    } catch (error) {
      const known = error instanceof CommitError && error.reason !== "unknown";
      if (known && units.length > 1) environment.counters.call_halved += 1;
      throw error;
    }
  }

  /** Makes a database call that is neither a load nor a commit. The call takes time and may fail without effect. */
  async function plain<T>(purpose: string, work: () => Promise<T>): Promise<T> {
    await whileAlive(later(environment, latencyMs(environment, purpose), undefined));
    if (!environment.quiet && draw(environment, purpose) < environment.plan.rates.failed_load) {
      throw new CommitError("unknown", null);
    }
    return await work();
  }

  const store: Store = {
    load: (refs) => answer("load", database.load(refs)),
    commit: (units) => answer("commit", counted(units, database.commit(units))),
    exclusive: async (ref, work) => {
      environment.counters.exclusive_path += 1;
      const session = (inner: StoreSession): StoreSession => ({
        load: (refs) => answer("load", inner.load(refs)),
        commit: (units) => answer("commit", counted(units, inner.commit(units))),
      });
      // The transaction of a dead process is rolled back.
      const run = database.exclusive(ref, (inner) => Promise.race([work(session(inner)), death]));
      return await answer("exclusive", run).catch((error) => {
        environment.counters.exclusive_commit_failed += 1;
        throw error;
      });
    },
    due: (kind, limit) => plain(`due ${kind}`, () => database.due(kind, limit)),
    outbox: (limit) => plain("outbox", () => database.outbox(limit).then((rows) => rows.map(counts))),
    delivered: (ids) => plain("delivered", () => database.delivered(ids)),
  };

  function counts<T extends { readonly id: string }>(row: T): T {
    const times = (environment.tries.get(`tell ${row.id}`) ?? 0) + 1;
    environment.tries.set(`tell ${row.id}`, times);
    if (times === 1) environment.counters.tell_delivered += 1;
    if (times === 2) environment.counters.tell_delivered_twice += 1;
    return row;
  }

  let nudged = false;
  /** Passes commits to the background worker, as in production. */
  const onCommit = (committed: Committed) => {
    if (!process.alive) return;
    worker.follow(committed);
    if (committed.tells !== null || nudged) return;
    nudged = true;
    environment.scheduler.after(latencyMs(environment, "nudge"), () => {
      nudged = false;
      if (process.alive) void worker.pass();
    });
  };
  const engine = createEngine({
    store,
    // As during an upgrade, the process in every second slot runs an earlier release.
    behaviors: place.index % 2 === 0 ? behaviors : earlierBehaviors,
    ports,
    limits: environment.plan.limits,
    onCommit,
  });
  const worker = createBackgroundWorker({
    store,
    engine,
    ports,
    timed: ["site", "saga", "job", "enrolment-claim"],
    knowsSaga,
    chain: () => Promise.resolve(),
    maintain: () => Promise.resolve(),
  });
  const process: Process = {
    ...place,
    engine,
    worker,
    alive: true,
    doom: null,
    minted: "",
    clients: new Set(),
    die: () => {
      process.alive = false;
      end(new CommitError("unknown", null));
      for (const broken of process.clients) broken();
      process.clients.clear();
    },
  };
  return process;
}

function count(environment: Environment, result: UnitResult): void {
  const { counters } = environment;
  if (result.status === "conflict") counters.lost_race += 1;
  if (result.status === "known") {
    counters.known_id_answered += 1;
    if (result.replies.some(({ reply }) => "fault" in reply)) counters.refusal_replayed += 1;
  }
}

/** Counts the units that build on an earlier unit of the same call, and how many of these units ended in a conflict. */
function countChains(environment: Environment, units: readonly Unit[], results: readonly UnitResult[]): void {
  units.forEach(({ actors }, index) => {
    if (actors.every(({ written_by }) => written_by === undefined)) return;
    environment.counters.chained += 1;
    if (results[index]?.status === "conflict") environment.counters.chain_broken += 1;
  });
}
