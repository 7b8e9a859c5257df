// Runs one job from its claim until the server has its result.
import type { AgentConfig } from "../src/contract/agent.ts";
import type { Blueprint, Job, JobEndBody, JobProgressBody } from "../src/contract/job.ts";
import { JOB_REASON_CHARS_MAX } from "../src/contract/limits.ts";
import type { Call } from "../cli/internal/exchange.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import { type Agent, KeyRefused, log, REQUEST_LIMIT_MS, rest, talk } from "./agent.ts";
import type { Polls } from "./agent-poll.ts";
import type { Consoles } from "./console/consoles.ts";
import { DetailedFailure } from "./detailed-failure.ts";
import type { ImageCache } from "./image-cache.ts";
import type { Journal } from "./journal.ts";
import { JOB_STEPS, type JobContext } from "./job-steps.ts";
import { PowerLost } from "./power-lost.ts";

export type WorkContext = {
  readonly agent: Agent;
  readonly api_key: string;
  readonly polls: Pick<Polls, "claim" | "isUsed">;
  readonly journal: Journal;
  readonly images: ImageCache;
  readonly consoles: Consoles;
  /** Waits until no status report is being sent. */
  readonly statusSettled: () => Promise<void>;
};

/**
 * The server no longer waits for this job. If the node must undo the job, the server sends a tombstone: an order to
 * undo it.
 */
class JobOver extends Error {}

/**
 * Runs a job and reports its result. Throws if the agent or this job is stopped, the key is rejected, the journal
 * cannot be written, or a simulated machine loses power. A failure of the job's work is a result and is not thrown.
 */
export async function runJob(work: WorkContext, job: Job): Promise<void> {
  const { journal } = work;
  work.agent.environment.signal.throwIfAborted();
  try {
    const end = journal.get(job.id)?.end ?? await carryOut(work, job);
    await journal.put({ job, end });
    await work.statusSettled();
    await reportEnd(work, job, end);
    log(work.agent, `job ${job.id} (${job.kind.kind}): ${end.outcome.kind}${reasonOf(end)}`);
  } catch (error) {
    if (!(error instanceof JobOver)) throw error;
    log(work.agent, `job ${job.id} (${job.kind.kind}): the control plane no longer waits for it`);
  }
  await journal.drop(job.id);
}

function reasonOf({ outcome }: JobEndBody): string {
  return outcome.kind === "failed" ? `: ${outcome.reason}` : "";
}

async function carryOut(work: WorkContext, job: Job): Promise<JobEndBody> {
  const { agent } = work;
  const progress = createProgress(work, job);
  let blueprint: Promise<Blueprint> | undefined;
  let allowed_private: Promise<readonly unknown[]> | undefined;
  let at = "kind";
  const context: JobContext = {
    ...work,
    job,
    blueprint: () => blueprint ??= fetchBlueprint(work, job),
    allowedPrivate: () => allowed_private ??= readAllowedPrivate(work),
    onProgress: progress.report,
    isWanted: async () => {
      await ask(work, { method: "POST", path: `/v1/agent/jobs/${job.id}/progress`, body: { step: at, percent: null } });
    },
  };
  const job_steps = JOB_STEPS[job.kind.kind];
  const steps = Object.entries(job_steps?.steps ?? {});
  let result: unknown = null;
  try {
    // If the disk was full, the journal's file may name a job that has ended. So for a job that was in the file when
    // the agent started, the agent first asks whether the control plane still wants the job.
    if (work.journal.isFromBefore(job.id)) await context.isWanted();
    if (job_steps === undefined) throw new Error("this agent does not support this kind of job; upgrade it");
    for (const [name, step] of steps) {
      agent.environment.signal.throwIfAborted();
      at = name;
      progress.report(name, null);
      await agent.driver.beforeStep(`${job.kind.kind}:${name}`, agent.environment.signal);
      result = await step(context) ?? null;
    }
    return { outcome: { kind: "completed" }, result };
  } catch (error) {
    if (isEndOfAgent(agent, error) || error instanceof JobOver) throw error;
    await untilUndone(agent, job);
    const text = (message: string) => plainText(`${at}: ${message}`).slice(0, JOB_REASON_CHARS_MAX);
    const reason = text((error as Error).message);
    if (!(error instanceof DetailedFailure)) return { outcome: { kind: "failed", reason } };
    log(agent, `job ${job.id} (${job.kind.kind}): ${text(error.detail)}`);
    return { outcome: { kind: "failed", reason, detail: text(error.detail) } };
  } finally {
    await progress.settled();
    await work.images.release(agent, job.id);
  }
}

function isEndOfAgent({ environment }: Agent, error: unknown): boolean {
  return environment.signal.aborted || error instanceof KeyRefused || error instanceof PowerLost;
}

/** Undoes what the node did for the job. Retries until it succeeds. */
export async function untilUndone(agent: Agent, job: Job): Promise<void> {
  const { undo } = JOB_STEPS[job.kind.kind] ?? {};
  for (let logged = false; undo !== undefined;) {
    try {
      await agent.driver.beforeStep(`${job.kind.kind}:undo`, agent.environment.signal);
      return await undo(agent, job);
    } catch (error) {
      if (isEndOfAgent(agent, error)) throw error;
      if (!logged) log(agent, `job ${job.id} (${job.kind.kind}): undo: ${(error as Error).message}; retrying`);
      logged = true;
      await rest(agent, agent.timers.error_retry_ms);
    }
  }
}

async function fetchBlueprint(work: WorkContext, job: Job): Promise<Blueprint> {
  return await ask(work, { method: "GET", path: `/v1/agent/jobs/${job.id}/blueprint` }) as Blueprint;
}

/** Reads the setting `fetch.allowed_private`. Older servers do not send it: then only public addresses are allowed. */
async function readAllowedPrivate(work: WorkContext): Promise<readonly unknown[]> {
  const config = await ask(work, { method: "GET", path: "/v1/agent/config" }) as Partial<AgentConfig>;
  return Array.isArray(config.fetch_allowed_private) ? config.fetch_allowed_private : [];
}

/** Reports the result. Throws JobOver if the server no longer waits for it. */
async function reportEnd(work: WorkContext, job: Job, end: JobEndBody): Promise<void> {
  await ask(work, { method: "POST", path: `/v1/agent/jobs/${job.id}/complete`, body: end });
}

/** Confirms to the server that the node has undone the job of a tombstone. */
export async function bury(work: WorkContext, job: Job): Promise<void> {
  try {
    await ask(work, { method: "POST", path: `/v1/agent/jobs/${job.id}/bury` });
  } catch (error) {
    if (!(error instanceof JobOver)) throw error;
  }
}

/** Sends a call and returns the body of a 2xx answer. Retries while the server is unavailable. */
async function ask({ agent, api_key }: WorkContext, call: Pick<Call, "method" | "path" | "body">): Promise<unknown> {
  for (let logged = false;;) {
    const reply = await talk(agent, api_key, { ...call, limit_ms: REQUEST_LIMIT_MS });
    if (reply.kind === "answer") {
      const { status, body } = reply.answer;
      if (status === 401) throw new KeyRefused();
      if (status >= 300) throw new JobOver();
      return body;
    }
    if (!logged) log(agent, `${call.path}: ${reply.why}; retrying`);
    logged = true;
    await rest(agent, reply.pause_ms);
  }
}

/**
 * Sends the newest progress, one request at a time. The job's steps do not wait for these requests, and errors are
 * ignored. `settled` waits for the end of the last request.
 */
function createProgress({ agent, api_key }: WorkContext, job: Job) {
  let next: JobProgressBody | null = null;
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    while (next !== null) {
      const body = next;
      next = null;
      const path = `/v1/agent/jobs/${job.id}/progress`;
      await talk(agent, api_key, { method: "POST", path, body, limit_ms: PROGRESS_LIMIT_MS }).catch(() => {});
    }
    sending = null;
  }

  return {
    report: (step: string, percent: number | null) => {
      next = { step, percent };
      sending ??= send();
    },
    settled: async () => void await sending,
  };
}

const PROGRESS_LIMIT_MS = 5_000;
