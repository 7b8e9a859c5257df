// Creates a barrier for two parties on one real database: their statements run one at a time. A schedule decides which
// party runs next, so that every interleaving of a pair of commands can be tested. While a statement waits for a lock,
// the other party continues, as in production.
import type { Db, DbClient } from "../../src/db/pool.ts";

export type Party = 0 | 1;

/** The party that runs each statement. After the end of the schedule, the last party continues as long as it can. */
export type Schedule = readonly Party[];

type State = {
  /** Functions that start the statements that wait to run, in order. */
  readonly queue: (() => void)[];
  running: number;
  /** Called when a statement ends. */
  ended: () => void;
  over: boolean;
};

export type LockBarrier = {
  /** Returns the database behind the barrier, for this party. */
  through(party: Party, db: Db): Db;
  /** Runs both tasks to their ends, with their statements in the order of the schedule. Throws if a task throws. */
  run(schedule: Schedule, tasks: readonly [() => Promise<void>, () => Promise<void>]): Promise<Steps>;
};

/** The parties in the order of their statements. `waited` counts the steps at which one party waited for a lock. */
export type Steps = { readonly order: readonly Party[]; readonly waited: number };

/** The maximum number of steps of a run: more than any pair of commands needs. */
const STEPS_MAX = 2_000;
/** Only statements that take longer than this are checked for waiting on a lock. Most statements end sooner. */
const STATEMENT_MS = 3;

/**
 * Creates a barrier. `names`: the application names of the parties' connections. `watch`: a connection outside the
 * barrier.
 */
export function createLockBarrier(watch: Db, names: readonly [string, string]): LockBarrier {
  const states: [State, State] = [newState(), newState()];

  async function pass<T>(party: Party, statement: () => Promise<T>): Promise<T> {
    const state = states[party];
    await new Promise<void>((go) => state.queue.push(go));
    state.running += 1;
    try {
      return await statement();
    } finally {
      state.running -= 1;
      state.ended();
    }
  }

  function through(party: Party, db: Db): Db {
    const behindBarrier = (client: DbClient): DbClient => ({
      query: (sql, params, name) => pass(party, () => client.query(sql, params, name)),
    });
    return { ...db, ...behindBarrier(db), withClient: (use) => db.withClient((client) => use(behindBarrier(client))) };
  }

  /** Returns whether all running statements of the party wait for a lock. */
  async function isBlocked(party: Party): Promise<boolean> {
    const { rows: [row] } = await watch.query<{ blocked: boolean }>(
      `select bool_and(wait_event_type = 'Lock') as blocked from pg_stat_activity
        where application_name = $1 and state = 'active' and datname = current_database()`,
      [names[party]],
    );
    return row?.blocked === true;
  }

  /** Waits until the party has a statement to run, has ended, or waits for a lock. */
  async function settle(party: Party): Promise<"ready" | "over" | "blocked"> {
    const state = states[party];
    for (;;) {
      if (state.running > 0) {
        await statementEnd(state);
        if (state.running > 0 && await isBlocked(party)) return "blocked";
        continue;
      }
      if (state.queue.length > 0) return "ready";
      if (state.over) return "over";
      await new Promise((turn) => setImmediate(turn));
    }
  }

  async function run(schedule: Schedule, tasks: readonly [() => Promise<void>, () => Promise<void>]): Promise<Steps> {
    const order: Party[] = [];
    let waited = 0;
    for (const state of states) Object.assign(state, newState());
    const ends = tasks.map((task, party) => task().finally(() => states[party as Party].over = true));
    const failed = Promise.all(ends).then(() => null, (error: unknown) => ({ error }));
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const [first, second] = [await settle(0), await settle(1)];
      if (first === "over" && second === "over") {
        const failure = await failed;
        if (failure !== null) throw failure.error;
        return { order, waited };
      }
      if (first === "blocked" || second === "blocked") waited += 1;
      const wanted = schedule[order.length] ?? order.at(-1) ?? 0;
      const ready = ([0, 1] as const).filter((party) => (party === 0 ? first : second) === "ready");
      const next = ready.includes(wanted) ? wanted : ready[0];
      if (next === undefined) continue;
      order.push(next);
      states[next].queue.shift()?.();
    }
    throw new Error(`two commands are not over after ${STEPS_MAX} steps`);
  }

  return { through, run };
}

function newState(): State {
  return { queue: [], running: 0, ended: () => {}, over: false };
}

/** Waits until a statement of the party ends, or for a short time. */
async function statementEnd(state: State): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  state.ended = resolve;
  const timer = setTimeout(resolve, STATEMENT_MS);
  await promise;
  clearTimeout(timer);
}

/**
 * The orders that the tests use. In two of them, one party runs completely before the other. In the others, the first
 * party pauses after one or two statements. The first party continues after one or two statements of the other party,
 * or after the other party's end.
 */
export const SCHEDULES: readonly Schedule[] = ([0, 1] as const).flatMap((first): Schedule[] => {
  const other: Party = first === 0 ? 1 : 0;
  const steps = (party: Party, times: number) => Array.from({ length: times }, () => party);
  return [
    steps(first, STEPS_MAX),
    ...[1, 2].flatMap((before) =>
      [1, 2, STEPS_MAX].map((between) => [
        ...steps(first, before),
        ...steps(other, between),
        ...steps(first, STEPS_MAX),
      ])
    ),
  ];
});
