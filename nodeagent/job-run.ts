// One job from its claim to the end that the server has taken.
import type { AgentConfig } from "../src/contract/agent.ts";
import type { Blueprint, Job, JobEndBody, JobProgressBody } from "../src/contract/job.ts";
import { JOB_REASON_CHARS_MAX } from "../src/contract/limits.ts";
import type { Call } from "../cli/internal/exchange.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import { type Agent, KeyRefused, log, REQUEST_LIMIT_MS, rest, talk } from "./agent.ts";
import { type ImageCache, NotFetched } from "./image-cache.ts";
import type { Journal } from "./journal.ts";
import { type JobContext, RECIPES } from "./job-steps.ts";
import { PowerLost } from "./power-lost.ts";

export type Workplace = {
  readonly agent: Agent;
  readonly api_key: string;
  readonly journal: Journal;
  readonly images: ImageCache;
};

/** The server does not wait for this job any more. What is left to do comes as a tombstone. */
class JobOver extends Error {}

/** Throws only when the agent is being stopped, the key is refused or the machine loses its power. */
export async function runJob(place: Workplace, job: Job): Promise<void> {
  const { journal } = place;
  place.agent.environment.signal.throwIfAborted();
  try {
    const end = journal.get(job.id)?.end ?? await carryOut(place, job);
    await journal.put({ job, end });
    await reportEnd(place, job, end);
    log(place.agent, `job ${job.id} (${job.kind.kind}): ${end.outcome.kind}${reasonOf(end)}`);
  } catch (error) {
    if (!(error instanceof JobOver)) throw error;
    log(place.agent, `job ${job.id} (${job.kind.kind}): the control plane does not wait for it any more`);
  }
  await journal.drop(job.id);
}

function reasonOf({ outcome }: JobEndBody): string {
  return outcome.kind === "failed" ? `: ${outcome.reason}` : "";
}

async function carryOut(place: Workplace, job: Job): Promise<JobEndBody> {
  const { agent } = place;
  const progress = createProgress(place, job);
  let blueprint: Promise<Blueprint> | undefined;
  let allowed_private: Promise<readonly unknown[]> | undefined;
  const context: JobContext = {
    ...place,
    job,
    blueprint: () => blueprint ??= fetchBlueprint(place, job),
    allowedPrivate: () => allowed_private ??= readAllowedPrivate(place),
    tell: progress.tell,
  };
  const recipe = RECIPES[job.kind.kind];
  const steps = Object.entries(recipe?.steps ?? {});
  let result: unknown = null;
  let at = "kind";
  try {
    if (recipe === undefined) throw new Error("this agent does not know this kind of job");
    for (const [name, step] of steps) {
      agent.environment.signal.throwIfAborted();
      at = name;
      progress.tell(name, null);
      await agent.driver.beforeStep(`${job.kind.kind}:${name}`, agent.environment.signal);
      result = await step(context) ?? null;
    }
    return { outcome: { kind: "completed" }, result };
  } catch (error) {
    if (isEndOfAgent(agent, error) || error instanceof JobOver) throw error;
    await untilUndone(agent, job);
    const text = (message: string) => plainText(`${at}: ${message}`).slice(0, JOB_REASON_CHARS_MAX);
    const reason = text((error as Error).message);
    if (!(error instanceof NotFetched)) return { outcome: { kind: "failed", reason } };
    log(agent, `job ${job.id} (${job.kind.kind}): ${text(error.detail)}`);
    return { outcome: { kind: "failed", reason, detail: text(error.detail) } };
  } finally {
    await progress.settled();
    await place.images.release(agent, job.id);
  }
}

function isEndOfAgent({ environment }: Agent, error: unknown): boolean {
  return environment.signal.aborted || error instanceof KeyRefused || error instanceof PowerLost;
}

/** Comes back when the node's part of the job is undone. */
export async function untilUndone(agent: Agent, job: Job): Promise<void> {
  const { undo } = RECIPES[job.kind.kind] ?? {};
  for (let told = false; undo !== undefined;) {
    try {
      await agent.driver.beforeStep(`${job.kind.kind}:undo`, agent.environment.signal);
      return await undo(agent, job);
    } catch (error) {
      if (isEndOfAgent(agent, error)) throw error;
      if (!told) log(agent, `job ${job.id} (${job.kind.kind}): undo: ${(error as Error).message}; trying again`);
      told = true;
      await rest(agent, agent.timers.error_retry_ms);
    }
  }
}

async function fetchBlueprint(place: Workplace, job: Job): Promise<Blueprint> {
  return await ask(place, { method: "GET", path: `/v1/agent/jobs/${job.id}/blueprint` }) as Blueprint;
}

/** A server of an older version names none: then public addresses alone are fetched. */
async function readAllowedPrivate(place: Workplace): Promise<readonly unknown[]> {
  const config = await ask(place, { method: "GET", path: "/v1/agent/config" }) as Partial<AgentConfig>;
  return Array.isArray(config.fetch_allowed_private) ? config.fetch_allowed_private : [];
}

/** A job that is over already is as good as taken. */
async function reportEnd(place: Workplace, job: Job, end: JobEndBody): Promise<void> {
  await ask(place, { method: "POST", path: `/v1/agent/jobs/${job.id}/complete`, body: end });
}

/** Says that a tombstone is applied. */
export async function bury(place: Workplace, job: Job): Promise<void> {
  try {
    await ask(place, { method: "POST", path: `/v1/agent/jobs/${job.id}/bury` });
  } catch (error) {
    if (!(error instanceof JobOver)) throw error;
  }
}

/** The body of a 2xx; asks again while the server is away or busy. */
async function ask({ agent, api_key }: Workplace, call: Pick<Call, "method" | "path" | "body">): Promise<unknown> {
  for (let told = false;;) {
    const reply = await talk(agent, api_key, { ...call, limit_ms: REQUEST_LIMIT_MS });
    if (reply.kind === "answer") {
      const { status, body } = reply.answer;
      if (status === 401) throw new KeyRefused();
      if (status >= 300) throw new JobOver();
      return body;
    }
    if (!told) log(agent, `${call.path}: ${reply.why}; trying again`);
    told = true;
    await rest(agent, reply.pause_ms);
  }
}

/** Tells the newest progress, one report at a time. Nobody waits for it: it is only for people who look. */
function createProgress({ agent, api_key }: Workplace, job: Job) {
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
    tell: (step: string, percent: number | null) => {
      next = { step, percent };
      sending ??= send();
    },
    settled: async () => void await sending,
  };
}

const PROGRESS_LIMIT_MS = 5_000;
