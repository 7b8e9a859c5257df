// Runs the loops of an enrolled node, each with its own period and retries. A rejected key ends all of them.
import type { Answer, Call } from "../cli/internal/exchange.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { type Agent, KeyRefused, log, refusalText, REQUEST_LIMIT_MS, rest, talk } from "./agent.ts";
import { createPolls, type Polls } from "./agent-poll.ts";
import { createConsoles } from "./console/consoles.ts";
import { createImageCache } from "./image-cache.ts";
import { openJournal } from "./journal.ts";
import { nicTagLoop } from "./nic-tags.ts";
import { createFollower } from "./network/poll.ts";
import { PowerLost } from "./power-lost.ts";
import { createWorker } from "./work.ts";
import { capacityLoop, configLoop, heartbeatLoop, type Register, statusLoop } from "./loops.ts";

export type Loop = {
  readonly name: string;
  readonly period_ms: number;
  /** Returns the next request, or null if there is nothing to send. */
  next(): Promise<Pick<Call, "method" | "path" | "body"> | null>;
  /** Called after each 2xx answer. */
  accepted?(answer: Answer): Promise<void> | void;
  /** Called at the end of each round: the request was answered, failed or was not needed. */
  ended?(): void;
};

/**
 * Runs the loops until the server rejects the key, and then returns. Throws an interrupted Failure when the agent
 * stops, PowerLost on a simulated loss of power, and any other error that ends a loop.
 */
export async function report(agent: Agent, api_key: string): Promise<void> {
  const stop = new AbortController();
  const environment = { ...agent.environment, signal: AbortSignal.any([agent.environment.signal, stop.signal]) };
  const inner: Agent = { ...agent, environment };
  const active = new Set<string>();
  const journal = await openJournal(agent.state_dir, (line) => log(agent, line));
  // The loops and the polls refer to each other. No loop runs before `made` is set.
  const polls = (): Polls => made;
  const status = statusLoop(inner, active, polls);
  const capacity = capacityLoop(inner, polls);
  const made = createPolls({ agent: inner, api_key, active, riders: [status.rider, capacity.rider] });
  const worker = createWorker({
    agent: inner,
    api_key,
    polls: made,
    journal,
    images: createImageCache(agent, api_key),
    consoles: createConsoles(inner, api_key),
    statusSettled: status.settled,
  }, active);
  const register: Register = async (body) => {
    const call = { method: "POST", path: "/v1/agent/register", body, limit_ms: REQUEST_LIMIT_MS } as const;
    const reply = await talk(inner, api_key, call);
    return reply.kind === "answer" && reply.answer.status < 300;
  };
  const networks = createFollower(inner, api_key, made);
  const loops = [
    configLoop(inner, register),
    capacity,
    nicTagLoop(inner),
    status,
    heartbeatLoop(inner, active, polls),
  ];
  const ends = await Promise.allSettled(
    [worker.run(), networks.poll(), networks.repair(), ...loops.map((loop) => runLoop(inner, api_key, loop))]
      .map((end) => end.finally(() => stop.abort())),
  );
  const reasons = ends.flatMap((end) => end.status === "rejected" ? [end.reason] : []);
  if (agent.environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
  if (reasons.some((reason) => reason instanceof KeyRefused)) return;
  // The first failure stopped the other loops, so the failures of the other loops are only consequences.
  throw reasons.find((reason) => !(reason instanceof Failure) || reason instanceof PowerLost) ?? reasons[0];
}

/** Runs a loop forever. Throws KeyRefused when the key is rejected, or an interrupted Failure when the agent stops. */
async function runLoop(agent: Agent, api_key: string, loop: Loop): Promise<never> {
  let in_trouble = false;
  const trouble = (why: string) => {
    if (!in_trouble) log(agent, `${loop.name}: ${why}; retrying`);
    in_trouble = true;
  };
  for (;;) {
    const round = await runOnce(agent, api_key, loop).finally(() => loop.ended?.());
    if (round.kind === "trouble") trouble(round.why);
    else if (round.kind === "sent" && in_trouble) {
      log(agent, `${loop.name}: recovered`);
      in_trouble = false;
    }
    await rest(agent, round.kind === "trouble" ? round.pause_ms : spreadMs(loop.period_ms, agent.environment.random()));
  }
}

type Round = { kind: "sent" } | { kind: "nothing" } | { kind: "trouble"; why: string; pause_ms: number };

async function runOnce(agent: Agent, api_key: string, loop: Loop): Promise<Round> {
  const pause_ms = Math.max(loop.period_ms, agent.timers.error_retry_ms);
  const message = await attempt(() => loop.next());
  if (!message.ok) return { kind: "trouble", why: message.why, pause_ms };
  if (message.value === null) return { kind: "nothing" };
  const reply = await talk(agent, api_key, { ...message.value, limit_ms: REQUEST_LIMIT_MS });
  if (reply.kind === "later") return { kind: "trouble", why: reply.why, pause_ms: reply.pause_ms };
  if (reply.answer.status === 401) throw new KeyRefused();
  if (reply.answer.status >= 300) return { kind: "trouble", why: refusalText(reply.answer), pause_ms };
  const taken = await attempt(() => loop.accepted?.(reply.answer));
  return taken.ok ? { kind: "sent" } : { kind: "trouble", why: taken.why, pause_ms };
}

type Attempt<T> = { ok: true; value: T } | { ok: false; why: string };

/** Runs code of the driver and catches its failure, which must not end the agent: the machine may recover. */
async function attempt<T>(body: () => Promise<T> | T): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await body() };
  } catch (error) {
    return { ok: false, why: (error as Error).message };
  }
}

/** Varies the period by up to 5 %, so that the agents do not send at the same time. */
function spreadMs(period_ms: number, random: number): number {
  return period_ms * (0.95 + 0.1 * random);
}
