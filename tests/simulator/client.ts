// A client sends one message and writes down what it hears. When it hears nothing it sends the same message id again,
// perhaps through another process; one that named no id cannot, and does not know what became of it.
import { OVERLOADED } from "../../actors/engine/engine.ts";
import { CommitError } from "../../actors/engine/store.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import { hash32, seededId } from "./chance.ts";
import type { Cluster } from "./cluster.ts";
import type { Operation } from "./journal.ts";
import type { Process } from "./process.ts";
import { choose, later, type World } from "./world.ts";

export type Request = {
  readonly to: ActorRef;
  readonly message: Message;
  /** The command it belongs to, and which of its requests it is. */
  readonly command: number;
  readonly part: number;
};

const TIMEOUT_MS = 2_000;
const ATTEMPTS_MAX = 5;

/** Sends until there is an answer or the client gives up. */
export async function operate(world: World, cluster: Cluster, request: Request): Promise<Operation> {
  const name = `${request.command}.${request.part}`;
  const own_id = choose(world, `own id ${name}`, 10) < 6 ? messageId(world, name) : null;
  const first = await processFor(world, cluster, `${name} 0`);
  const operation: Operation = {
    ...request,
    msg_id: own_id ?? "",
    request_id: `request ${name}`,
    engine: first.run,
    sent: world.journal.moment(),
    attempts: 0,
    answered: null,
    out: null,
    reply: null,
    fault: null,
  };
  world.journal.operations.push(operation);
  let process = first;
  for (;;) {
    operation.attempts += 1;
    const heard = await attempt(world, process, operation, own_id);
    if (heard !== null && !(heard.ok === false && heard.fault === OVERLOADED)) {
      return settle(world, operation, heard);
    }
    if (own_id === null || operation.attempts >= ATTEMPTS_MAX) return settle(world, operation, null);
    world.counters.client_retried_id += 1;
    await later(world, 50 * operation.attempts, undefined);
    process = await processFor(world, cluster, `${name} ${operation.attempts}`);
  }
}

/** One attempt: the outcome, or null when there is none to hear. */
function attempt(
  world: World,
  process: Process,
  operation: Operation,
  own_id: string | null,
): Promise<Outcome | null> {
  return new Promise((resolve) => {
    const broken = () => resolve(null);
    process.clients.add(broken);
    const over = (outcome: Outcome | null) => {
      process.clients.delete(broken);
      resolve(outcome);
    };
    world.scheduler.after(TIMEOUT_MS, () => {
      if (!process.clients.has(broken)) return;
      world.counters.client_timed_out += 1;
      over(null);
    });
    const origin = { actor: { kind: "system" } as const, request_id: operation.request_id };
    const how = own_id === null ? { origin } : { origin, id: own_id };
    process.engine.send(operation.to, operation.message, how).then(
      (outcome) => {
        if (!process.alive) return;
        if (!outcome.ok && outcome.fault === OVERLOADED) world.counters.overloaded += 1;
        over(outcome);
      },
      (error) => {
        if (!process.alive) return;
        if (!(error instanceof CommitError)) world.journal.bugs.push(`a client was told: ${String(error)}`);
        over(null);
      },
    );
    if (own_id === null) Object.assign(operation, { msg_id: process.minted });
  });
}

function settle(world: World, operation: Operation, heard: Outcome | null): Operation {
  operation.answered = world.journal.moment();
  operation.out = heard === null ? "unknown" : heard.ok ? "ok" : "refused";
  if (heard?.ok === true) operation.reply = heard.reply;
  if (heard?.ok === false) operation.fault = heard.fault;
  world.journal.note(`${operation.answered.ms} ${operation.msg_id} ${operation.out}`);
  return operation;
}

async function processFor(world: World, cluster: Cluster, name: string): Promise<Process> {
  for (;;) {
    const process = cluster.at(choose(world, `process ${name}`, world.plan.processes));
    if (process !== null) return process;
    await later(world, 100, undefined);
  }
}

function messageId(world: World, name: string): string {
  const { seed } = world.plan;
  return seededId(world.scheduler.now_ms(), hash32(`id ${name}`, seed), hash32(`second half ${name}`, seed));
}
