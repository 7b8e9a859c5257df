// Runs the worker of a simulated machine. The test chooses the answers of the control plane.
import { processEnvironment } from "../../cli/internal/environment.ts";
import type { Agent, Timers } from "../../nodeagent/agent.ts";
import type { Driver } from "../../nodeagent/driver.ts";
import type { ImageCache } from "../../nodeagent/image-cache.ts";
import type { Journal } from "../../nodeagent/journal.ts";
import { simulatedDriver } from "../../nodeagent/simulated-driver.ts";
import { createWorker } from "../../nodeagent/work.ts";
import type { ClaimView, Job } from "../../src/contract/job.ts";

export type Answer = Pick<ClaimView, "job" | "tombstones">;

export type WorkerOptions = {
  readonly journal: Journal;
  /** An empty directory. */
  readonly state_dir: string;
  /** Returns the answer to a claim. `asked` has the requests that the worker's jobs sent until then. */
  claim(asked: readonly string[]): Answer | Promise<Answer>;
  /** Changes the driver of the simulated machine. */
  changed?(driver: Driver): Driver;
  /**
   * The answer to a request for a job's blueprint. Default: 409, as if the control plane no longer waited for the job.
   */
  readonly blueprint?: object;
};

/** Starts a worker. `asked` lists the requests of its jobs, each as the last two segments of its path. */
export async function startWorker(options: WorkerOptions) {
  const { journal, state_dir, claim, changed = (driver) => driver, blueprint } = options;
  const stop = new AbortController();
  const asked: string[] = [];
  const environment = {
    ...processEnvironment(stop.signal),
    fetch: (url: string) => {
      asked.push(new URL(url).pathname.split("/").slice(-2).join(" "));
      if (url.endsWith("/blueprint") && blueprint !== undefined) return Promise.resolve(Response.json(blueprint));
      // The answer 409 ends a job, because the control plane no longer waits for it.
      return Promise.resolve(Response.json({}, { status: url.endsWith("/complete") ? 200 : 409 }));
    },
  };
  const agent: Agent = {
    adminIp: () => Promise.resolve(null),
    environment,
    driver: changed(await simulatedDriver({ state_dir, server_uuid: undefined, hostname: undefined, environment })),
    link: { endpoint: "http://127.0.0.1:9", user_agent: "test" },
    nic_tags: [],
    listener: { start: () => Promise.reject(new Error("this agent receives no VMs")) },
    state_dir,
    timers: { job_poll_ms: 20, claim_wait_s: 1, error_retry_ms: 20 } as Timers,
    image_bytes_max: 0,
  };
  const active = new Set<string>();
  const made = createWorker({
    agent,
    api_key: "key",
    polls: {
      claim: async () => ({
        kind: "answer",
        // The worker reads only these parts of an answer.
        answer: { status: 200, body: await claim(asked), retry_after_s: null } as never,
      }),
      isUsed: () => false,
    },
    journal,
    // The jobs of these tests fetch no image.
    images: { release: () => Promise.resolve() } as unknown as ImageCache,
    consoles: { answer: () => {}, known: () => [] },
    statusSettled: () => Promise.resolve(),
  }, active);
  const ended = made.run().catch((error) => error as Error);
  return { asked, active, ended, stop: () => stop.abort() };
}

export function jobOf(kind: string, instance_id: string = crypto.randomUUID()): Job {
  // The type requires more fields, which the worker does not read.
  return { id: crypto.randomUUID(), kind: { kind, instance_id } } as unknown as Job;
}
