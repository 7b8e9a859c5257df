// Defines a saga with every kind of step, on the lamps of tests/engine/probe.ts: two writes, a job, an allocation, and
// a last write without an undo. Each step and each undo has a gate. If a test has closed the gate, the step or undo is
// refused.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { give, insert, take, withActor } from "../../actors/engine/effects.ts";
import { createEngine, type Engine, OVERLOADED } from "../../actors/engine/engine.ts";
import type { FaultPoint } from "../../actors/engine/ports.ts";
import { job as jobPlan, saga, type StepPart, write } from "../../actors/engine/saga.ts";
import { job } from "../../actors/job/transition.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import { type Db, openClient, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { freshDatabase } from "../support/database.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import { lamp, LAMP_SQL, NO_CURRENT, testGuard } from "../engine/probe.ts";

export const STEPS = ["reserve", "light", "work", "plug", "finish"] as const;
export type Step = (typeof STEPS)[number];
export const JOB_LIMIT_MS = 60_000;
export const NODE = "99999999-0000-4000-8000-000000000001";

type Params = { readonly first: string; readonly second: string };

const lampRef = (id: string) => ({ kind: "lamp", id });
const gate = (name: string): StepPart => testGuard("probe_gate", { name }, `the gate ${name} is closed`);
const work = (kind: string, limit_ms = JOB_LIMIT_MS) => ({ kind, target_cn: NODE, payload: {}, limit_ms });

export const probe = saga<Params>("probe")
  .step("reserve", {
    do: () => write({ drawn: 1 }, gate("reserve:do"), take("current", 1, NO_CURRENT)),
    undo: () => write(null, gate("reserve:undo"), give("current", 1)),
  })
  .step("light", {
    do: (c) =>
      write({ lit: c.params.first }, gate("light:do"), withActor(lampRef(c.params.first), { type: "switch_on" })),
    undo: (c) => write(null, gate("light:undo"), withActor(lampRef(c.light.lit), { type: "switch_off" })),
  })
  .step("work", {
    kind: "job",
    do: () => jobPlan<{ readonly made: string }>(work("probe"), gate("work:do")),
    undo: () => jobPlan(work("probe-undo"), gate("work:undo")),
  })
  .step("plug", {
    do: (c) => {
      const socket = c.id("socket");
      return write({ socket }, gate("plug:do"), withActor(lampRef(c.params.second), { type: "plug", token: socket }));
    },
    undo: (c) => write(null, gate("plug:undo"), withActor(lampRef(c.params.second), { type: "unplug" })),
  })
  .step("finish", {
    do: (c) =>
      write(
        c.work.made,
        gate("finish:do"),
        insert("lamp_part", { lamp_id: c.params.second, key: c.id("part"), value: 1 }),
      ),
  });

const PROBE_SQL = `
create table probe_gate (name text primary key);
create function guard_probe_gate(args jsonb) returns boolean language sql as
  $$ select not exists (select from probe_gate where name = args->>'name') $$;
insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at, approved_at, bound_api_key_id)
  select '${NODE}', id, 1, 'approved', 'probe', 'tenant', '{}', berth_now(), berth_now(), id from gen_random_uuid() id;
update budget set remaining = 1000 where name = 'current';
update pool_range set high = 1000 where pool_id = 'sockets';
`;

export type Process = {
  readonly engine: Engine;
  /** Runs one pass of the background worker. */
  pass(): Promise<void>;
  /** Delivers the outbox and does no other background work. */
  deliver(): Promise<void>;
  /** Sends one tick to a saga and handles its refusal like the background worker. */
  tick(id: string): Promise<void>;
  /** Returns how often the process's fault occurred. */
  faults(): number;
};

type ProcessOptions = {
  /** The process dies once, at this point of its next commit. */
  readonly dies?: FaultPoint;
  /** Whether the process's build knows the saga. Default: true. */
  readonly knows?: boolean;
  /** The number of ticks that the process refuses first because its queue is full. */
  readonly refuses?: number;
};

type SagaRow = {
  readonly state: string;
  readonly step: string | null;
  readonly job_id: string | null;
  readonly error: string | null;
  readonly stuck_reason: string | null;
  readonly steps: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  readonly outputs: Readonly<Record<string, unknown>>;
};

export type ProbePlane = Awaited<ReturnType<typeof openProbe>>;

export async function openProbe() {
  const database = await freshDatabase();
  const owner = await openClient({ url: database.url });
  await owner.query(LAMP_SQL);
  await owner.query(PROBE_SQL);
  await owner.end();
  const db: Db = openPool({ url: database.url });
  const app: Db = openPool({ url: database.url, role: "berth_app" });

  /** Creates a process with its own engine. */
  function newProcess(given: ProcessOptions = {}): Process {
    let faults = 0;
    let refusals = given.refuses ?? 0;
    const fault = (point: FaultPoint) => {
      if (point !== given.dies || faults > 0) return;
      faults += 1;
      throw new Error(`the process died ${point}`);
    };
    const definitions = given.knows === false ? [] : [probe];
    const behaviors = [lamp, job, sagaBehavior(definitions)];
    const store = createStore(app, behaviors);
    const ports = { ...productionPorts(), fault };
    const real = createEngine({ store, behaviors, ports });
    const send: Engine["send"] = (to, message, how) => {
      if (message.type === "tick" && refusals > 0) {
        refusals -= 1;
        return Promise.resolve({ ok: false, fault: OVERLOADED });
      }
      return real.send(to, message, how);
    };
    const engine = { ...real, send };
    const knowsSaga = (name: string) => definitions.some((definition) => definition.name === name);
    const nothing = () => Promise.resolve();
    const worker = (timed: string[]) =>
      createBackgroundWorker({ store, engine, ports, timed, knowsSaga, chain: nothing, maintain: nothing });
    return {
      engine,
      pass: worker(["saga", "job"]).pass,
      deliver: worker([]).pass,
      tick: async (id) => {
        const { step } = await row(id);
        const outcome = await engine.send({ kind: "saga", id }, { type: "tick" });
        if (outcome.ok) return;
        await engine.send({ kind: "saga", id }, { type: "step_refused", step, reason: outcome.fault.message });
      },
      faults: () => faults,
    };
  }

  const main = newProcess();

  async function row(id: string): Promise<SagaRow> {
    const { rows } = await db.query<SagaRow>("select * from saga where id = $1", [id]);
    if (rows[0] === undefined) throw new Error(`no saga ${id}`);
    return rows[0];
  }

  /** Creates two lamps and a saga at its first step. */
  async function start(): Promise<Started> {
    const [id, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    for (const each of [first, second]) await main.engine.send(lampRef(each), { type: "make", id: each });
    const before = await dumpTables(db);
    const references = [{ scope: "cn", id: NODE }];
    const message = { type: "start", id, saga: "probe", params: { first, second }, references };
    expect((await main.engine.send({ kind: "saga", id }, message)).ok).toBe(true);
    return { id, first, second, before };
  }

  async function jobOf(id: string): Promise<{ readonly id: string; readonly kind: string; readonly state: string }> {
    const { job_id } = await row(id);
    const { rows } = await db.query("select id, kind, state, tombstone from job where id = $1", [job_id]);
    return rows[0];
  }

  const toJob = (id: string, message: { readonly type: string; readonly [field: string]: unknown }, by = main) =>
    by.engine.send({ kind: "job", id }, { by: NODE, ...message });
  const claim = (id: string, lease_s = 3_600) => toJob(id, { type: "claim", lease_s });

  /** Claims and ends the job that the saga waits for, as its node does, and delivers the report. */
  async function doJob(
    id: string,
    ending: object = { type: "complete", result: { made: "by the node" } },
  ): Promise<void> {
    const waiting = await jobOf(id);
    await claim(waiting.id);
    expect((await toJob(waiting.id, ending as { type: string })).ok).toBe(true);
    await main.deliver();
  }

  /** Runs the saga until its next action is to do, or to undo, this step. */
  async function reach(id: string, step: Step, state: "running" | "unwinding" = "running"): Promise<void> {
    for (let ticks = 0; ticks < 20; ticks++) {
      const now = await row(id);
      if (now.state === state && now.step === step && now.job_id === null) return;
      await (now.job_id === null ? main.tick(id) : doJob(id));
    }
    throw new Error(`the saga never came to ${state} ${step}: ${JSON.stringify(await row(id))}`);
  }

  /** Runs the saga until it ends or is stuck. */
  async function finish(id: string, by: Process = main): Promise<SagaRow> {
    for (let ticks = 0; ticks < 30; ticks++) {
      const now = await row(id);
      if (now.state !== "running" && now.state !== "unwinding") return now;
      await (now.job_id === null ? by.tick(id) : doJob(id));
    }
    throw new Error(`the saga did not end: ${JSON.stringify(await row(id))}`);
  }

  async function close(name: string): Promise<void> {
    await db.query("insert into probe_gate values ($1) on conflict do nothing", [name]);
  }
  async function open(name?: string): Promise<void> {
    await db.query("delete from probe_gate where $1::text is null or name = $1", [name ?? null]);
  }

  return {
    db,
    main,
    newProcess,
    row,
    start,
    jobOf,
    toJob,
    claim,
    doJob,
    reach,
    finish,
    /** Closes the gate of a step or undo, for example `light:do`. From now on, the step or undo is refused. */
    close,
    open,
    advance: (ms: number) =>
      db.query("update lab_clock set ahead = ahead + $1 * interval '1 millisecond'", [ms]).then(() => {}),
    /** Lists the rows that the saga changed, except its own records. */
    left: async (started: Started) => differences(started.before, await dumpTables(db)),
    end: async () => {
      await app.close();
      await db.close();
      await database.drop();
    },
  };
}

export type Started = { readonly id: string; readonly first: string; readonly second: string; readonly before: Dump };

/** Tables that the comparisons ignore: the saga's own records, logs and the clock. */
const RECORDS = ["probe_gate", "saga", "job", "transition", "seen", "outbox", "audit_event", "audit_head", "lab_clock"];

/** Lists the differences between two dumps, except in versions, which an undo does not decrease. */
function differences(before: Dump, after: Dump): string[] {
  const settled = (dump: Dump) =>
    new Map([...dump].map(([table, rows]) => [table, rows.map((each) => each.replace(/"version":\d+,/, ""))]));
  return changedRows(settled(before), settled(after), RECORDS);
}
