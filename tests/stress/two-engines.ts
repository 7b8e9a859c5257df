// Opens two engines that share a database. A barrier decides which engine's statement runs next. A third engine, which
// does not use the barrier, creates the objects of a test.
import { createEngine, type Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import { behaviors, timedKinds } from "../../actors/registry.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openClient, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { type BackgroundWorker, createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { databaseUrl } from "../support/database-url.ts";
import { createLockBarrier, type LockBarrier } from "./lock-barrier.ts";

export type Side = { readonly engine: Engine; readonly worker: BackgroundWorker };

export type TwoEngines = {
  readonly db: Db;
  readonly barrier: LockBarrier;
  readonly sides: readonly [Side, Side];
  readonly newId: () => string;
  /** Sends a message outside the barrier. Throws when it is refused. */
  make(to: ActorRef, message: Message): Promise<unknown>;
  send(to: ActorRef, message: Message): Promise<Outcome>;
  /** Runs the background worker outside the barrier until nothing is left to do. */
  rest(): Promise<void>;
  close(): Promise<void>;
};

const NAMES = ["first of two", "second of two"] as const;
const LIMIT_MS = 60_000;
const PASSES_MAX = 50;

/** Opens two engines on a new database with this name. */
export async function openTwoEngines(server_url: string, name: string): Promise<TwoEngines> {
  const client = await openClient({ url: server_url, statementLimit_ms: LIMIT_MS });
  await client.query(`create database ${name}`);
  await client.end();
  const url = databaseUrl(server_url, name);
  await migrate(url);
  const db = openPool({ url, connectionsMax: 3, applicationName: "watch", statementLimit_ms: LIMIT_MS });
  const barrier = createLockBarrier(db, NAMES);
  const pools = NAMES.map((each) => openPool({ url, role: "berth_app", connectionsMax: 4, applicationName: each }));
  const free = openPool({ url, role: "berth_app", connectionsMax: 4, applicationName: "outside the barrier" });

  /** The production ports, except that sleeping takes no time. */
  const ports: Ports = { ...productionPorts(), sleep: () => new Promise((wake) => setImmediate(wake)) };

  function side(pool: Db): Side {
    const store = createStore(pool, behaviors);
    const engine = createEngine({ store, behaviors, ports });
    const nothing = () => Promise.resolve();
    const worker = createBackgroundWorker({
      store,
      engine,
      ports,
      timed: timedKinds,
      knowsSaga: () => true,
      chain: nothing,
      maintain: nothing,
    });
    return { engine, worker };
  }

  const maker = side(free);

  async function make(to: ActorRef, message: Message): Promise<unknown> {
    const outcome = await maker.engine.send(to, message);
    if (!outcome.ok) throw new Error(`${message.type} of ${to.kind}: ${outcome.fault.message}`);
    return outcome.reply;
  }

  let resting: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  /** Runs the background worker until nothing is left to do. Calls during a run share one further run. */
  function rest(): Promise<void> {
    return next ??= resting.then(() => {
      next = null;
      return resting = workOff();
    });
  }

  async function workOff(): Promise<void> {
    for (let passes = 0; passes < PASSES_MAX; passes += 1) {
      await maker.worker.pass();
      const { rows: [row] } = await db.query<{ rests: boolean }>(
        `select not exists (select from outbox) and not exists (select from saga where wake_at <= (select berth_now())) as rests`,
      );
      if (row?.rests === true) return;
    }
    throw new Error("background work is still due after PASSES_MAX passes");
  }

  return {
    db,
    barrier,
    sides: [side(barrier.through(0, pools[0]!)), side(barrier.through(1, pools[1]!))],
    newId: ports.newId,
    make,
    send: maker.engine.send,
    rest,
    close: async () => {
      await Promise.all([...pools, free, db].map((each) => each.close()));
    },
  };
}
