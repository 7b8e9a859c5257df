// A light agent is a node agent without a machine. It finishes every job at once. It calls the API in the way that
// nodeagent does. It reports its capacity and status, and sends heartbeats that name its jobs. It claims jobs by long
// polls, confirms tombstones before other work, reads blueprints, and reports the ends of jobs.
import type { AgentPollBody, AgentPollView } from "../../src/contract/agent-poll.ts";
import type { CapacityReportBody } from "../../src/contract/agent.ts";
import { AGENT_POLL_S_MAX } from "../../src/contract/limits.ts";
import type { Blueprint, ClaimBody, ClaimView, HeartbeatBody, Job, JobEndBody } from "../../src/contract/job.ts";
import { lightMachine } from "./agents-machine.ts";
import { openWire, type Wire, type WireAnswer, type WireCall } from "./agents-wire.ts";

export type NodeKey = { readonly server_uuid: string; readonly api_key: string };

export type Pace = {
  readonly heartbeat_ms: number;
  /** The time limit of a long poll for jobs, in seconds. */
  readonly claim_wait_s: number;
  readonly error_retry_ms: number;
  readonly capacity_ms: number;
  /**
   * `check_ms` is the interval at which an agent that does not poll checks whether its status changed. `full_ms` is the
   * longest time between two reports. Null means that the agent sends no status reports.
   */
  readonly status: { readonly check_ms: number; readonly full_ms: number } | null;
  /**
   * Whether the agent polls, as the current nodeagent does. The polls contain the agent's heartbeats and reports, and
   * ask for network documents. An agent that does not poll sends heartbeats, reports and claims as separate calls, as
   * older agents do.
   */
  readonly polls?: boolean;
  /** Whether an agent that does not poll also asks for network documents. */
  readonly asks_network?: boolean;
};

export type Tally = {
  beats: number;
  beat_times_ms: number[];
  /** The number of claims, or of polls if the agent polls. */
  claims: number;
  reports: number;
  /** The number of finished jobs by kind. */
  jobs: Record<string, number>;
  tombstones: number;
  /** The number of calls without a reply. */
  unanswered: number;
  /** The number of unsuccessful replies by status. */
  refused: Record<string, number>;
};

export type NodeOptions = {
  readonly ports: readonly number[];
  readonly pace: Pace;
  /** The capacity report to send, or null if the agent sends none. */
  readonly capacity: CapacityReportBody | null;
  /** The delay before the agent starts, in milliseconds. */
  readonly begin_ms: number;
  /** Whether each heartbeat opens a new connection. */
  readonly beats_once: boolean;
  readonly tally: Tally;
};

export type LightNode = {
  /** Returns whether the server has accepted a heartbeat, and the agent waits for jobs. */
  isAtWork(): boolean;
  /** Returns the names of the agent's instances. */
  vms(): readonly string[];
  stop(): void;
};

type Request = Pick<WireCall, "method" | "path" | "body">;

const REQUEST_LIMIT_MS = 15_000;

export function newTally(): Tally {
  return { beats: 0, beat_times_ms: [], claims: 0, reports: 0, jobs: {}, tombstones: 0, unanswered: 0, refused: {} };
}

export function startNode({ server_uuid, api_key: key }: NodeKey, options: NodeOptions): LightNode {
  const { ports, pace, capacity, begin_ms, beats_once, tally } = options;
  const machine = lightMachine();
  const in_hand = new Set<string>();
  const wires: Wire[] = [];
  let beaten = false;
  let asked = false;
  let stopped = false;

  function wire(once = false): Wire {
    const made = openWire({ ports, once });
    wires.push(made);
    return made;
  }

  async function ask(by: Wire, request: Request, limit_ms = REQUEST_LIMIT_MS): Promise<WireAnswer | null> {
    const answer = await by.ask({ ...request, key, limit_ms });
    if (stopped) return null;
    if (answer === null) tally.unanswered += 1;
    else if (!heard(answer)) tally.refused[answer.status] = (tally.refused[answer.status] ?? 0) + 1;
    return answer;
  }

  /** Repeats a request while the server is down or busy. Returns null only if this agent was stopped. */
  async function until(by: Wire, request: Request): Promise<WireAnswer | null> {
    while (!stopped) {
      const answer = await ask(by, request);
      if (answer !== null && answer.status !== 429 && answer.status < 500) return answer;
      await sleep(pace.error_retry_ms);
    }
    return null;
  }

  /**
   * Calls `act` once in each period. If a call takes longer than the period, the next call follows at once. Repeats a
   * failed call after error_retry_ms.
   */
  async function every(period_ms: number, act: () => Promise<boolean>): Promise<void> {
    for (let due_ms = performance.now(); !stopped;) {
      if (await act()) due_ms = Math.max(due_ms + period_ms, performance.now());
      else due_ms = performance.now() + pace.error_retry_ms;
      await sleep(due_ms - performance.now());
    }
  }

  function beating(by: Wire) {
    return async () => {
      const body: HeartbeatBody = { running_jobs: [...in_hand] };
      const sent_ms = performance.now();
      if (!heard(await ask(by, { method: "POST", path: "/v1/agent/heartbeat", body }))) return false;
      beaten = true;
      tally.beats += 1;
      tally.beat_times_ms.push(performance.now() - sent_ms);
      return true;
    };
  }

  async function report(by: Wire, path: string, body: unknown): Promise<boolean> {
    const answer = await ask(by, { method: "POST", path, body });
    tally.reports += 1;
    return heard(answer);
  }

  function tellingStatus(by: Wire, full_ms: number) {
    let told = "{}";
    let told_ms = performance.now();
    return async () => {
      const vms = machine.vms();
      const text = JSON.stringify(vms);
      if (text === told && performance.now() - told_ms < full_ms) return true;
      const payload = { vms, timestamp: new Date().toISOString() };
      if (!await report(by, "/v1/agent/status", { payload })) return false;
      told = text;
      told_ms = performance.now();
      return true;
    };
  }

  async function claiming(by: Wire): Promise<void> {
    for (let wait = 0; !stopped; wait = pace.claim_wait_s) {
      const body: ClaimBody = { claimed_by: server_uuid, wait, running_jobs: [...in_hand] };
      asked ||= wait > 0;
      const limit_ms = wait * 1_000 + REQUEST_LIMIT_MS;
      const answer = await ask(by, { method: "POST", path: "/v1/agent/claim", body }, limit_ms);
      tally.claims += 1;
      if (!heard(answer)) {
        await sleep(pace.error_retry_ms);
        continue;
      }
      await handle(by, answer?.body as ClaimView);
    }
  }

  async function handle(by: Wire, { job, tombstones }: ClaimView): Promise<void> {
    for (const each of tombstones) {
      machine.undo(each);
      await until(by, { method: "POST", path: `/v1/agent/jobs/${each.id}/bury` });
      tally.tombstones += 1;
    }
    if (job !== null && !in_hand.has(job.id)) void carryOut(job);
  }

  async function polling(by: Wire): Promise<void> {
    const sent_ms = { capacity: performance.now(), status: performance.now() };
    const isDue = (which: keyof typeof sent_ms, period_ms: number) => {
      const is = performance.now() - sent_ms[which] >= period_ms - AGENT_POLL_S_MAX * 1_000;
      if (is) sent_ms[which] = performance.now();
      return is;
    };
    for (let wait = 0; !stopped; wait = AGENT_POLL_S_MAX) {
      const status = pace.status !== null && isDue("status", pace.status.full_ms)
        ? { payload: { vms: machine.vms(), timestamp: new Date().toISOString() } }
        : undefined;
      const body: AgentPollBody = {
        server_uuid,
        wait,
        running_jobs: [...in_hand],
        work: { known_consoles: [] },
        network: { have: {}, traces: true },
        status,
        capacity: capacity !== null && isDue("capacity", pace.capacity_ms) ? capacity : undefined,
      };
      asked ||= wait > 0;
      const begun_ms = performance.now();
      const call = { method: "POST", path: "/v1/agent/poll", body } as const;
      const answer = await ask(by, call, wait * 1_000 + REQUEST_LIMIT_MS);
      tally.claims += 1;
      if (!heard(answer)) {
        await sleep(pace.error_retry_ms);
        continue;
      }
      beaten = true;
      // This poll does not wait, so its duration is the time in which the server stores a heartbeat.
      if (wait === 0) tally.beat_times_ms.push(performance.now() - begun_ms);
      const { work } = answer?.body as AgentPollView;
      if (work !== null) await handle(by, work);
    }
  }

  async function askingNetwork(by: Wire): Promise<void> {
    const body = { wait: pace.claim_wait_s, have: {}, traces: true };
    const limit_ms = pace.claim_wait_s * 1_000 + REQUEST_LIMIT_MS;
    while (!stopped) {
      const answer = await ask(by, { method: "POST", path: "/v1/agent/network/poll", body }, limit_ms);
      if (!heard(answer)) await sleep(pace.error_retry_ms);
    }
  }

  const free: Wire[] = [];
  async function carryOut(job: Job): Promise<void> {
    in_hand.add(job.id);
    const by = free.pop() ?? wire();
    const path = `/v1/agent/jobs/${job.id}`;
    const reason = await machine.work(job, async () => {
      const answer = await until(by, { method: "GET", path: `${path}/blueprint` });
      return heard(answer) ? answer?.body as Blueprint : null;
    });
    const body: JobEndBody = { outcome: reason === null ? { kind: "completed" } : { kind: "failed", reason } };
    // If the job has already ended, the server replies with 409, and the agent treats this reply as acceptance. If the
    // node must undo the job, the server later sends a tombstone.
    await until(by, { method: "POST", path: `${path}/complete`, body });
    tally.jobs[job.kind.kind] = (tally.jobs[job.kind.kind] ?? 0) + 1;
    in_hand.delete(job.id);
    free.push(by);
  }

  async function begin(): Promise<void> {
    await sleep(begin_ms);
    if (capacity !== null) {
      const [by, path] = [wire(true), "/v1/agent/capacity"];
      await until(by, { method: "POST", path, body: capacity });
      if (pace.polls !== true) {
        void sleep(pace.capacity_ms).then(() => every(pace.capacity_ms, () => report(by, path, capacity)));
      }
    }
    if (pace.polls === true) return void polling(wire());
    if (pace.asks_network === true) void askingNetwork(wire());
    if (pace.status !== null) void every(pace.status.check_ms, tellingStatus(wire(true), pace.status.full_ms));
    void every(pace.heartbeat_ms, beating(wire(beats_once)));
    void claiming(wire());
  }

  void begin();
  return {
    isAtWork: () => beaten && asked,
    vms: () => machine.names(),
    stop: () => {
      stopped = true;
      for (const each of wires) each.close();
    },
  };
}

function heard(answer: WireAnswer | null): boolean {
  return answer !== null && answer.status < 300;
}

function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, Math.max(0, duration_ms)));
}
