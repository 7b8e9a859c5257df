// Runs sagas step by step. The test completes jobs as nodes do, and delivers the messages between actors.
import { expect } from "vitest";
import type { SendOptions } from "../../actors/engine/engine.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import type { Db } from "../../src/db/pool.ts";
import { openProcess, type Trouble } from "./saga-process.ts";

export type SagaRow = {
  readonly id: string;
  readonly saga: string;
  readonly state: string;
  readonly step: string | null;
  readonly job_id: string | null;
  readonly error: string | null;
  readonly stuck_reason: string | null;
  readonly steps: Readonly<Record<string, { readonly status: string; readonly undo_error: string | null }>>;
};

type JobRow = {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly tombstone: boolean | null;
};

export type SagaRuns = ReturnType<typeof openSagaRuns>;

/** `db` reads rows as the owner. The processes use `app`, whose role is berth_app. */
export function openSagaRuns({ db, app }: { readonly db: Db; readonly app: Db }) {
  const newProcess = (trouble?: Trouble) => openProcess({ app, stepOf: async (id) => (await row(id)).step, trouble });
  const main = newProcess();

  async function row(id: string): Promise<SagaRow> {
    const { rows } = await db.query<SagaRow>("select * from saga where id = $1", [id]);
    if (rows[0] === undefined) throw new Error(`no saga ${id}`);
    return rows[0];
  }

  const send = (to: ActorRef, message: Message, how?: SendOptions, by = main) => by.engine.send(to, message, how);
  const toJob = async (id: string, message: Message) => {
    const { rows } = await db.query<{ target_cn: string }>("select target_cn from job where id = $1", [id]);
    okOf(await main.engine.send({ kind: "job", id }, { by: rows[0]!.target_cn, ...message }));
  };

  async function jobOf(saga: SagaRow): Promise<JobRow | undefined> {
    const { rows } = await db.query<JobRow>("select id, kind, state, tombstone from job where id = $1", [saga.job_id]);
    return rows[0];
  }

  const claim = (id: string) => toJob(id, { type: "claim", lease_s: 600 });
  async function endJob(id: string, how: Message = { type: "complete", result: null }): Promise<void> {
    await toJob(id, how);
    await main.deliver();
  }

  /** Ends the wait of the saga: completes its job as the node does, or delivers its tells. */
  async function serve(saga: SagaRow): Promise<void> {
    const job = await jobOf(saga);
    if (job === undefined || job.state === "completed" || job.state === "failed") return await main.deliver();
    if (job.state === "pending") await claim(job.id);
    await endJob(job.id);
  }

  /** Runs the saga until its next action is to do, or to undo, this step. */
  async function reach(id: string, step: string, state: "running" | "unwinding" = "running"): Promise<void> {
    for (let ticks = 0; ticks < 30; ticks++) {
      const now = await row(id);
      if (now.state === state && now.step === step && now.job_id === null) return;
      await (now.job_id === null ? main.tick(id) : serve(now));
    }
    throw new Error(`the saga never came to ${state} ${step}: ${JSON.stringify(await row(id))}`);
  }

  /** Runs the saga until it ends or is stuck. */
  async function finish(id: string, by = main): Promise<SagaRow> {
    for (let ticks = 0; ticks < 40; ticks++) {
      const now = await row(id);
      if (now.state !== "running" && now.state !== "unwinding") return now;
      await (now.job_id === null ? by.tick(id) : serve(now));
    }
    throw new Error(`the saga did not end: ${JSON.stringify(await row(id))}`);
  }

  return { main, newProcess, row, jobOf, claim, endJob, toJob, send, reach, finish, serve };
}

export function okOf(outcome: Outcome): void {
  expect(outcome).toMatchObject({ ok: true });
}
