// Runs the worker of an enrolled node. The worker claims jobs and runs them in parallel, but one at a time per instance
// and per floating IP. A tombstone asks the node to undo a withdrawn job. Later jobs on the same object wait for this
// undo; jobs on other objects do not. docs/instances.md, "Jobs".
import type { JobKind } from "../src/contract/enums.ts";
import type { ClaimBody, ClaimView, Job } from "../src/contract/job.ts";
import { type Agent, KeyRefused, log, refusalText, REQUEST_LIMIT_MS, rest, talk, untilStopped } from "./agent.ts";
import { bury, runJob, untilUndone, type WorkContext } from "./job-run.ts";
import { subjectsOf } from "./job-steps.ts";

/** The largest number of parallel jobs. The agent still claims further jobs, because the answers contain tombstones. */
const JOBS_AT_ONCE_MAX = 8;

/** The largest number of tombstones that are undone in parallel. They do not count as jobs. */
const UNDOS_AT_ONCE_MAX = 8;

/**
 * Jobs that start even if the journal cannot be written, because they make room. They need no journal: after a crash
 * the server sends them again, and it does no harm if they run twice or do not finish.
 */
const REMOVALS: ReadonlySet<string> = new Set<JobKind>(["delete", "delete_disk", "delete_snapshot"]);

/** A job in progress. Its tombstone aborts `withdrawn`. `over` resolves at the end of the job, or of its undo. */
type Running = { readonly withdrawn: AbortController; readonly over: Promise<void> };

export type Worker = {
  /**
   * Ends only with an error: the key is rejected, the journal cannot be written, the machine loses power, or the agent
   * stops.
   */
  run(): Promise<never>;
};

/** Creates a worker. `active` contains the ids of its jobs, whose leases the heartbeat renews. */
export function createWorker(work: WorkContext, active: Set<string>): Worker {
  const stop = new AbortController();
  const environment = {
    ...work.agent.environment,
    signal: AbortSignal.any([work.agent.environment.signal, stop.signal]),
  };
  const agent: Agent = { ...work.agent, environment };
  const { journal } = work;
  const running = new Map<string, Running>();
  /** The last job of each instance and each floating IP, by the object's id. */
  const last = new Map<string, Promise<void>>();
  const slots = createSlots(JOBS_AT_ONCE_MAX);
  const undo_slots = createSlots(UNDOS_AT_ONCE_MAX);
  let broken: unknown;

  /** Runs a job. If a tombstone withdrew the job before it began here, only its undo runs. */
  function begin(job: Job, withdrawn = new AbortController()): void {
    if (running.has(job.id)) return;
    const own = {
      ...agent,
      environment: { ...environment, signal: AbortSignal.any([environment.signal, withdrawn.signal]) },
    };
    const isWithdrawn = () => withdrawn.signal.aborted;
    const subjects = subjectsOf(job);
    const earlier = Promise.all(subjects.map((subject) => last.get(subject)));
    const ended = earlier.then(() => isWithdrawn() ? undefined : slots.run(() => runJob({ ...work, agent: own }, job)))
      .catch((error) => {
        // A tombstone stopped only this job, so the worker continues.
        if (!isWithdrawn()) throw error;
      });
    const over = ended.then(() => isWithdrawn() ? undo_slots.run(() => applyTombstone(job)) : undefined)
      .catch((error) => {
        broken ??= error;
        stop.abort();
      })
      .finally(() => {
        running.delete(job.id);
        active.delete(job.id);
        for (const subject of subjects) if (last.get(subject) === over) last.delete(subject);
      });
    active.add(job.id);
    running.set(job.id, { withdrawn, over });
    for (const subject of subjects) last.set(subject, over);
  }

  /** Stops a job, if it runs, and starts its undo. */
  function withdraw(job: Job): void {
    const withdrawn = running.get(job.id)?.withdrawn ?? new AbortController();
    withdrawn.abort();
    begin(job, withdrawn);
  }

  async function applyTombstone(job: Job): Promise<void> {
    await untilUndone(agent, job);
    await journal.drop(job.id);
    await bury({ ...work, agent }, job);
    log(agent, `job ${job.id} (${job.kind.kind}): taken from this node and undone`);
  }

  /** Claims jobs once. Returns true if the answer contained a job, a tombstone or a console call. */
  async function round(wait: number, trouble: (why: string | null) => void): Promise<boolean> {
    // An answer may still name a tombstone that was confirmed while the answer was on its way.
    const undoing = new Set([...running].flatMap(([id, { withdrawn }]) => withdrawn.signal.aborted ? [id] : []));
    const body: ClaimBody = {
      claimed_by: (await agent.driver.hardware()).server_uuid,
      wait,
      running_jobs: journal.entries().map(({ job }) => job.id),
      known_consoles: work.consoles.known(),
    };
    const call = { method: "POST", path: "/v1/agent/claim", body, limit_ms: wait * 1_000 + REQUEST_LIMIT_MS } as const;
    // If only the worker stops, the poll continues, so the worker must stop waiting for it.
    const reply = await untilStopped(agent, work.polls.claim(body)) ?? await talk(agent, work.api_key, call);
    if (reply.kind === "answer" && reply.answer.status === 401) throw new KeyRefused();
    if (reply.kind === "later" || reply.answer.status >= 300) {
      trouble(reply.kind === "later" ? reply.why : refusalText(reply.answer));
      await rest(agent, reply.kind === "later" ? reply.pause_ms : agent.timers.error_retry_ms);
      return false;
    }
    trouble(null);
    const { job, tombstones, consoles = [] } = reply.answer.body as ClaimView;
    work.consoles.answer(consoles);
    const new_tombstones = tombstones.filter(({ id }) => !undoing.has(id));
    for (const each of new_tombstones) withdraw(each);
    if (job !== null && journal.get(job.id) === undefined) await journal.put({ job, end: null });
    else await journal.retry();
    // The journal also contains jobs from before a restart.
    for (const { job } of journal.entries()) {
      // The heartbeat also renews the lease of a job that cannot start because the disk is full.
      active.add(job.id);
      if (journal.isSaved(job.id) || REMOVALS.has(job.kind.kind)) begin(job);
    }
    const has_news = job !== null || new_tombstones.length > 0 || consoles.length > 0;
    // Prevents a tight loop: until the node has confirmed all tombstones, the server answers at once.
    if (!has_news && tombstones.length > 0) await rest(agent, agent.timers.job_poll_ms);
    return has_news || tombstones.length > 0;
  }

  async function loop(): Promise<never> {
    let in_trouble = false;
    const trouble = (why: string | null) => {
      if (why !== null && !in_trouble) log(agent, `work: ${why}; retrying`);
      if (why === null && in_trouble) log(agent, "work: recovered");
      in_trouble = why !== null;
    };
    for (let first = true;; first = false) {
      const sent_ms = environment.monotonicMs();
      const found = await round(first ? 0 : agent.timers.claim_wait_s, trouble);
      if (found || first || in_trouble || work.polls.isUsed()) continue;
      // Prevents a tight loop if the server answers without waiting.
      const left_ms = agent.timers.job_poll_ms - (environment.monotonicMs() - sent_ms);
      if (left_ms > 0) await rest(agent, left_ms);
    }
  }

  async function run(): Promise<never> {
    try {
      return await loop();
    } catch (error) {
      stop.abort();
      await Promise.all([...running.values()].map(({ over }) => over));
      throw broken ?? error;
    }
  }

  return { run };
}

/** Limits parallel work to `free` slots. Further work waits in order. */
function createSlots(free: number) {
  const waiting: (() => void)[] = [];
  return {
    run: async (work: () => Promise<void>): Promise<void> => {
      if (free > 0) free -= 1;
      else await new Promise<void>((go) => waiting.push(go));
      try {
        await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
