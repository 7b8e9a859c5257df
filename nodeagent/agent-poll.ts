// Sends the polls of the node. A poll is one request that replaces the heartbeat, the claim, the network poll and the
// repeated reports (docs/nodes.md, "Reports of a node"). The loop for work and the loop for network documents each send
// a question to the server. Questions that are asked at about the same time share a poll. While one loop is busy, the
// other one polls alone. The next poll of the busy loop ends at the same time as the poll in flight, so that both loops
// share a poll again. If the server does not support polls, the loops use their own calls.
import type { AgentPollBody, AgentPollView } from "../src/contract/agent-poll.ts";
import type { ClaimBody, ClaimView } from "../src/contract/job.ts";
import { AGENT_HEARTBEAT_MS, AGENT_POLL_S_MAX, AGENT_POLL_S_MIN } from "../src/contract/limits.ts";
import type { NetworkPollBody, NetworkPollView } from "../src/contract/network-document.ts";
import { type Agent, log, type Reply, REQUEST_LIMIT_MS, rest, talk } from "./agent.ts";

/** How long a question waits before its poll is sent, so that a question of the other loop can share the poll. */
const GATHER_MS = 20;
/**
 * If the poll in flight ends within this time, a question waits for the end of that poll. Then both loops share the
 * next poll.
 */
const JOIN_MS = 250;
/**
 * How much later than expected an answer may arrive. After this time the agent sends a heartbeat, since the poll may be
 * lost.
 */
const LATE_MS = 2_000;
/**
 * If the server does not support polls, the agent tries the next poll after this time. If the server refuses a poll
 * with a report, polls carry no reports for this time.
 */
const UNSUPPORTED_RETRY_MS = 60_000;
const NOT_FOUND = 404;
/** The statuses with which the server refuses a poll whose report is invalid or too large. */
const BAD_REPORT: ReadonlySet<number> = new Set([400, 413]);

/** A report that a poll can carry. */
export type Rider = {
  readonly field: "status" | "capacity";
  /**
   * Returns the report if it becomes due within `interval_ms`, the time until the next poll. Otherwise returns null.
   */
  take(interval_ms: number): Promise<{ readonly body: unknown; accepted(): void } | null>;
};

export type Polls = {
  /** Returns the answer in the form of POST /v1/agent/claim; null if the server does not support polls. */
  claim(body: ClaimBody): Promise<Reply | null>;
  /** Returns the answer in the form of POST /v1/agent/network/poll; null if the server does not support polls. */
  documents(body: NetworkPollBody): Promise<Reply | null>;
  /**
   * Whether the server supports polls, as far as the agent knows. If it does, the polls limit the rate of requests, and
   * the loops need no pause.
   */
  isUsed(): boolean;
  /** Whether the polls replace the heartbeats. */
  covers(): boolean;
  /**
   * Whether the polls carry the reports. A poll for work must be in flight and not late. After the server refused a
   * poll with a report, the polls carry no reports for UNSUPPORTED_RETRY_MS.
   */
  carries(): boolean;
};

export type PollsOptions = {
  readonly agent: Agent;
  readonly api_key: string;
  /** The ids of running jobs, whose leases each poll renews. */
  readonly active: ReadonlySet<string>;
  readonly riders: readonly Rider[];
};

type Question<B> = { readonly body: B; readonly reply: PromiseWithResolvers<Reply | null> };
type Questions = { work: Question<ClaimBody> | null; network: Question<NetworkPollBody> | null };
type Flight = {
  readonly sent_ms: number;
  readonly has_work: boolean;
  /** The latest time at which the answer is expected. */
  readonly end_ms: number;
  readonly landed: Promise<unknown>;
};

export function createPolls({ agent, api_key, active, riders }: PollsOptions): Polls {
  const { environment, timers, driver } = agent;
  const now_ms = environment.monotonicMs;
  let questions: Questions = { work: null, network: null };
  const flights = new Set<Flight>();
  let interval_ms = AGENT_POLL_S_MIN * 1_000;
  let unsupported_until_ms = -Infinity;
  let riding_from_ms = -Infinity;
  let sent_ms = -Infinity;
  let node: string | null = null;

  const isUsed = () => now_ms() >= unsupported_until_ms;
  const isInTime = ({ end_ms }: Flight) => now_ms() < end_ms + LATE_MS;

  function add(made: Partial<Questions>): void {
    questions = { ...questions, ...made };
    const is_single = questions.work === null || questions.network === null;
    (is_single ? gather() : flush()).catch((error) => fail(questions, error));
  }

  async function gather(): Promise<void> {
    const mine = questions;
    const [other] = flights;
    const left_ms = other === undefined ? 0 : other.end_ms - now_ms();
    if (other !== undefined && left_ms < JOIN_MS) await Promise.race([other.landed, rest(agent, JOIN_MS)]);
    if (other === undefined || left_ms < JOIN_MS) await rest(agent, GATHER_MS);
    // If `questions` was replaced, the other loop has asked meanwhile, and its poll also carries this loop's question.
    if (questions === mine) await flush();
  }

  async function flush(): Promise<void> {
    const taken = questions;
    questions = { work: null, network: null };
    try {
      await settle(taken);
    } catch (error) {
      fail(taken, error);
    }
  }

  async function settle(taken: Questions): Promise<void> {
    node ??= (await driver.hardware()).server_uuid;
    const riding = await rides(taken);
    let reply = await send(taken, riding);
    if (riding.length > 0 && reply.kind === "answer" && BAD_REPORT.has(reply.answer.status)) {
      // For UNSUPPORTED_RETRY_MS, the loops send their reports with separate calls. So a bad report does not keep the
      // node from its work.
      riding_from_ms = now_ms() + UNSUPPORTED_RETRY_MS;
      reply = await send(taken, []);
    }
    if (reply.kind === "answer" && reply.answer.status === NOT_FOUND) {
      log(agent, "poll: the control plane is older and does not support polls; sending separate requests");
      unsupported_until_ms = now_ms() + UNSUPPORTED_RETRY_MS;
      taken.work?.reply.resolve(null);
      taken.network?.reply.resolve(null);
      return;
    }
    if (reply.kind === "later" || reply.answer.status >= 300) {
      taken.work?.reply.resolve(reply);
      taken.network?.reply.resolve(reply);
      return;
    }
    const view = reply.answer.body as AgentPollView;
    const { work, network } = view;
    const part = (body: unknown): Reply => ({ kind: "answer", answer: { ...reply.answer, body } });
    taken.work?.reply.resolve(work === null ? notApproved() : part(work));
    taken.network?.reply.resolve(part(network ?? NO_DOCUMENTS));
  }

  async function rides({ work }: Questions) {
    // Only polls with `work` carry reports. A job begins after the answer to such a poll. So a report that was made
    // before a job cannot arrive after the end of the job.
    if (work === null || now_ms() < riding_from_ms) return [];
    const taken = await Promise.all(riders.map(async ({ field, take }) => {
      // The report's own loop logs the failure.
      const report = await take(interval_ms).catch(() => null);
      return report === null ? [] : [{ field, ...report }];
    }));
    return taken.flat();
  }

  async function send(taken: Questions, riding: Awaited<ReturnType<typeof rides>>): Promise<Reply> {
    const [other] = flights;
    const longest_s = Math.min(
      AGENT_POLL_S_MAX,
      taken.work?.body.wait ?? Infinity,
      taken.network?.body.wait ?? Infinity,
    );
    const left_ms = other === undefined ? 0 : other.end_ms - now_ms();
    const wait = left_ms < JOIN_MS ? longest_s : Math.min(longest_s, left_ms / 1_000);
    const body: AgentPollBody = {
      server_uuid: node!,
      wait,
      running_jobs: taken.work?.body.running_jobs ?? [...active],
      ...taken.work !== null && { work: { known_consoles: taken.work.body.known_consoles } },
      ...taken.network !== null && { network: { ...taken.network.body } },
      ...Object.fromEntries(riding.map(({ field, body }) => [field, body])),
    };
    const began_ms = sent_ms = now_ms();
    const call = { method: "POST", path: "/v1/agent/poll", body, limit_ms: wait * 1_000 + REQUEST_LIMIT_MS } as const;
    const landed = talk(agent, api_key, call);
    const flight: Flight = {
      sent_ms,
      has_work: taken.work !== null,
      end_ms: sent_ms + Math.min(wait * 1_000, interval_ms),
      landed: landed.catch(() => {}),
    };
    flights.add(flight);
    try {
      const reply = await landed;
      flights.delete(flight);
      if (reply.kind === "answer" && reply.answer.status < 300) {
        for (const { accepted } of riding) accepted();
        const view = reply.answer.body as AgentPollView;
        interval_ms = Math.min(AGENT_POLL_S_MAX, Math.max(1, view.interval_s)) * 1_000;
        // Prevents a tight loop if the server answers without waiting.
        const pace_ms = Math.min(timers.job_poll_ms, wait * 1_000, interval_ms);
        const left_ms = hasNews(view) ? 0 : pace_ms - (now_ms() - began_ms);
        if (left_ms > 0) await rest(agent, left_ms);
      }
      return reply;
    } finally {
      flights.delete(flight);
    }
  }

  function notApproved(): Reply {
    return { kind: "later", why: "only an approved node can take jobs", pause_ms: timers.error_retry_ms };
  }

  function fail({ work, network }: Questions, error: unknown): void {
    work?.reply.reject(error);
    network?.reply.reject(error);
  }

  return {
    isUsed,
    async claim(body) {
      if (!isUsed()) return null;
      const reply = Promise.withResolvers<Reply | null>();
      add({ work: { body, reply } });
      return await reply.promise;
    },
    async documents(body) {
      if (!isUsed()) return null;
      const reply = Promise.withResolvers<Reply | null>();
      add({ network: { body, reply } });
      return await reply.promise;
    },
    // If the heartbeat interval is below the default, separate heartbeats are sent.
    covers: () =>
      isUsed() && timers.heartbeat_ms >= AGENT_HEARTBEAT_MS &&
      ([...flights].some(isInTime) || now_ms() - sent_ms < timers.heartbeat_ms),
    carries: () =>
      isUsed() && now_ms() >= riding_from_ms && [...flights].some((each) => each.has_work && isInTime(each)),
  };
}

function hasNews({ work, network }: AgentPollView): boolean {
  const { job = null, tombstones = [], consoles = [] }: Partial<ClaimView> = work ?? {};
  return job !== null || tombstones.length > 0 || consoles.length > 0 || (network !== null && hasDocuments(network));
}

/** Whether an answer about networks contains documents, removed VPCs or traces. */
export function hasDocuments({ vpcs, gone, traces = [] }: NetworkPollView): boolean {
  return vpcs.length > 0 || gone.length > 0 || traces.length > 0;
}

const NO_DOCUMENTS: NetworkPollView = { nodes: [], vpcs: [], gone: [] };
