// Two processes on one real database, whose statements are let through one at a time: which process goes next is
// decided by a schedule, so that every interleaving of a pair of commands can be tried. A statement that waits for a
// lock lets the other process go on, as it would in the world.
import type { Db, DbClient } from "../../src/db/pool.ts";

export type Party = 0 | 1;

/** Whose statement goes next, step by step; after its end the one that went last goes on as long as it can. */
export type Schedule = readonly Party[];

type State = {
  /** Statements that want to run, in their order. */
  readonly queue: (() => void)[];
  running: number;
  /** Called when a statement ends. */
  ended: () => void;
  over: boolean;
};

export type Authorize = {
  /** The same database, as this party may use it. */
  through(party: Party, db: Db): Db;
  /** Runs both to their ends along the schedule. Returns how many statements each let through. */
  run(schedule: Schedule, tasks: readonly [() => Promise<void>, () => Promise<void>]): Promise<Steps>;
};

/** `waited`: steps at which one of the two waited for a lock that the other held. */
export type Steps = { readonly order: readonly Party[]; readonly waited: number };

/** More than any pair of commands needs: what goes on longer never ends. */
const STEPS_MAX = 2_000;
/** Most statements end sooner: only what goes on longer is asked whether it waits for a lock. */
const STATEMENT_MS = 3;

/** `names`: the application names of the parties' connections. `watch` looks on, outside the gate. */
export function createAuthorize(watch: Db, names: readonly [string, string]): Authorize {
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
    const gated = (client: DbClient): DbClient => ({
      query: (sql, params) => pass(party, () => client.query(sql, params)),
    });
    return { ...db, ...gated(db), withClient: (use) => db.withClient((client) => use(gated(client))) };
  }

  /** True when every statement of the party that runs waits for a lock. */
  async function isBlocked(party: Party): Promise<boolean> {
    const { rows: [row] } = await watch.query<{ blocked: boolean }>(
      `select bool_and(wait_event_type = 'Lock') as blocked from pg_stat_activity
        where application_name = $1 and state = 'active' and datname = current_database()`,
      [names[party]],
    );
    return row?.blocked === true;
  }

  /** Until the party wants to run a statement, is over, or waits for a lock: the first of these. */
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

/** Of any of its statements; after a while of none. */
async function statementEnd(state: State): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  state.ended = resolve;
  const timer = setTimeout(resolve, STATEMENT_MS);
  await promise;
  clearTimeout(timer);
}

/** Every order with at most two changes of turn after one or two statements each, and the two without any. */
export const SCHEDULES: readonly Schedule[] = ([0, 1] as const).flatMap((first): Schedule[] => {
  const other: Party = first === 0 ? 1 : 0;
  const turns = (party: Party, times: number) => Array.from({ length: times }, () => party);
  return [
    turns(first, STEPS_MAX),
    ...[1, 2].flatMap((before) =>
      [1, 2, STEPS_MAX].map((between) => [
        ...turns(first, before),
        ...turns(other, between),
        ...turns(first, STEPS_MAX),
      ])
    ),
  ];
});
