// Opens an engine and its background worker on their own database, without sockets or timers. Nothing runs by itself: a
// test sends each message and starts the background passes. The test can crash the process at any commit.
import { randomUUID } from "node:crypto";
import { CommitError } from "../../actors/engine/store.ts";
import { createEngine, type Engine } from "../../actors/engine/engine.ts";
import type { FaultPoint } from "../../actors/engine/ports.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import { behaviors, timedKinds } from "../../actors/registry.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { type BackgroundWorker, createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { freshDatabase } from "../support/database.ts";
import type { Dump } from "../support/dump.ts";
import { HISTORY, isIdle } from "./machine.ts";

/** A failure at one commit: the process ends, or only its connection. */
export type Cut = { readonly how: "crash" | "connection lost"; readonly at: FaultPoint; readonly commit: number };

export type SetupFixture = {
  readonly db: Db;
  /** Sends a message, and repeats it with the same id after a crash, as a client does. Returns the durable outcome. */
  send(to: ActorRef, message: Message): Promise<Outcome>;
  /** Runs background passes until no work is due and the outbox is empty. */
  rest(): Promise<void>;
  advance(seconds: number): Promise<void>;
  /** Returns every row of every table, except the tables of history and the clock. */
  dump(): Promise<Dump>;
  /** Sets the next failure, and restarts the count of commits at 1. */
  cut(cut: Cut | null): void;
  /** The number of commits since the last `cut`, and whether the failure happened. */
  counted(): { readonly commits: number; readonly happened: boolean };
  close(): Promise<void>;
};

/** Returns the message with which a booter reports that it saw a MAC, under this version of the policy. */
export function seenMessage(
  mac: string,
  policy: { readonly version: number; readonly prefix_len: number; readonly gateway: string },
): Message {
  const { version: policy_version, prefix_len, gateway } = policy;
  return {
    type: "seen",
    mac,
    by: "fixture",
    enroll: true,
    policy_version,
    segment: { prefix_len, gateway, resolvers: [] },
    declared: { hostname: null, nic_tags: [] },
    address_token: `address:${randomUUID()}`,
  };
}

const PASSES_MAX = 50;

class Crash extends Error {}

export async function openSetupFixture(): Promise<SetupFixture> {
  const fresh = await freshDatabase();
  const db = openPool({ url: fresh.url, connectionsMax: 2, applicationName: "test" });
  const pool = openPool({ url: fresh.url, role: "berth_app", connectionsMax: 4, applicationName: "fixture" });
  const store = createStore(pool, behaviors);
  let cut: Cut | null = null;
  let commits = 0;
  let happened = false;
  let running = start();

  function start(): { engine: Engine; worker: BackgroundWorker; dead: boolean } {
    const process = { dead: false } as { engine: Engine; worker: BackgroundWorker; dead: boolean };
    const fault = (point: FaultPoint) => {
      if (process.dead) throw new Crash();
      if (point === "before_commit") commits += 1;
      if (cut === null || happened || point !== cut.at || commits !== cut.commit) return;
      happened = true;
      if (cut.how === "connection lost") throw new CommitError("unknown", null);
      process.dead = true;
      throw new Crash();
    };
    const ports = { ...productionPorts(), sleep: () => Promise.resolve(), fault };
    process.engine = createEngine({ store, behaviors, ports });
    process.worker = createBackgroundWorker({
      store,
      engine: process.engine,
      ports,
      timed: timedKinds,
      knowsSaga: () => true,
      chain: () => Promise.resolve(),
      maintain: () => Promise.resolve(),
    });
    return process;
  }

  function restartIfDead(): boolean {
    const died = running.dead;
    if (died) running = start();
    return died;
  }

  async function send(to: ActorRef, message: Message): Promise<Outcome> {
    const id = productionPorts().newId();
    for (let fresh = true;; fresh = false) {
      try {
        return await running.engine.send(to, message, { id, fresh });
      } catch (error) {
        if (!restartIfDead()) throw error;
      }
    }
  }

  async function rest(): Promise<void> {
    for (let passes = 0; passes < PASSES_MAX; passes += 1) {
      await running.worker.pass();
      const died = restartIfDead();
      if (!died && await isIdle(db)) return;
    }
    throw new Error(`work is left after ${PASSES_MAX} passes`);
  }

  async function dump(): Promise<Dump> {
    const { rows } = await db.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace
          and relkind in ('r', 'p') and not relispartition and relname <> all($1) order by 1`,
      [[...HISTORY, "lab_clock"]],
    );
    const all = rows.map(({ name }) =>
      `select '${name}' as name, array(select row_to_json(t)::text from ${name} t order by 1) as rows`
    );
    const dumped = await db.query<{ name: string; rows: string[] }>(all.join(" union all "));
    return new Map(dumped.rows.map((each) => [each.name, each.rows]));
  }

  return {
    db,
    send,
    rest,
    dump,
    advance: async (seconds) =>
      void await db.query("update lab_clock set ahead = ahead + make_interval(secs => $1)", [seconds]),
    cut: (next) => {
      cut = next;
      commits = 0;
      happened = false;
    },
    counted: () => ({ commits, happened }),
    close: async () => {
      await pool.close();
      await db.close();
      await fresh.drop();
    },
  };
}
