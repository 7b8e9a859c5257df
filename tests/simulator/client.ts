// A client sends one message and records the answer. If it gets no answer, or the process is overloaded, the client
// sends the message again with the same id, perhaps to another process. A message without an id cannot be repeated, so
// its outcome then stays unknown.
import { OVERLOADED } from "../../actors/engine/engine.ts";
import { CommitError } from "../../actors/engine/store.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import { hash32, seededId } from "./chance.ts";
import type { Cluster } from "./cluster.ts";
import type { Operation } from "./journal.ts";
import type { Process } from "./process.ts";
import { choose, type Environment, later } from "./environment.ts";

export type Request = {
  readonly to: ActorRef;
  readonly message: Message;
  /** The command of the request; `part` numbers the requests of a command. */
  readonly command: number;
  readonly part: number;
};

const TIMEOUT_MS = 2_000;
const ATTEMPTS_MAX = 5;

/** Sends the request until there is an answer or the client gives up. */
export async function operate(environment: Environment, cluster: Cluster, request: Request): Promise<Operation> {
  const name = `${request.command}.${request.part}`;
  const own_id = choose(environment, `own id ${name}`, 10) < 6 ? messageId(environment, name) : null;
  const first = await processFor(environment, cluster, `${name} 0`);
  const operation: Operation = {
    ...request,
    msg_id: own_id ?? "",
    request_id: `request ${name}`,
    engine: first.run,
    sent: environment.journal.moment(),
    attempts: 0,
    answered: null,
    out: null,
    reply: null,
    fault: null,
  };
  environment.journal.operations.push(operation);
  let process = first;
  for (;;) {
    operation.attempts += 1;
    const answer = await attempt(environment, process, operation, own_id);
    if (answer !== null && !(answer.ok === false && answer.fault === OVERLOADED)) {
      return settle(environment, operation, answer);
    }
    if (own_id === null || operation.attempts >= ATTEMPTS_MAX) return settle(environment, operation, null);
    environment.counters.client_retried_id += 1;
    await later(environment, 50 * operation.attempts, undefined);
    process = await processFor(environment, cluster, `${name} ${operation.attempts}`);
  }
}

/** Makes one attempt. Returns the outcome, or null if there was no answer. */
function attempt(
  environment: Environment,
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
    environment.scheduler.after(TIMEOUT_MS, () => {
      if (!process.clients.has(broken)) return;
      environment.counters.client_timed_out += 1;
      over(null);
    });
    const origin = { actor: { kind: "system" } as const, request_id: operation.request_id };
    const how = own_id === null ? { origin } : { origin, id: own_id };
    process.engine.send(operation.to, operation.message, how).then(
      (outcome) => {
        if (!process.alive) return;
        if (!outcome.ok && outcome.fault === OVERLOADED) environment.counters.overloaded += 1;
        over(outcome);
      },
      (error) => {
        if (!process.alive) return;
        if (!(error instanceof CommitError)) {
          environment.journal.bugs.push(`a client got an unexpected error: ${String(error)}`);
        }
        over(null);
      },
    );
    if (own_id === null) Object.assign(operation, { msg_id: process.minted });
  });
}

function settle(environment: Environment, operation: Operation, answer: Outcome | null): Operation {
  operation.answered = environment.journal.moment();
  operation.out = answer === null ? "unknown" : answer.ok ? "ok" : "refused";
  if (answer?.ok === true) operation.reply = answer.reply;
  if (answer?.ok === false) operation.fault = answer.fault;
  environment.journal.note(`${operation.answered.ms} ${operation.msg_id} ${operation.out}`);
  return operation;
}

async function processFor(environment: Environment, cluster: Cluster, name: string): Promise<Process> {
  for (;;) {
    const process = cluster.at(choose(environment, `process ${name}`, environment.plan.processes));
    if (process !== null) return process;
    await later(environment, 100, undefined);
  }
}

function messageId(environment: Environment, name: string): string {
  const { seed } = environment.plan;
  return seededId(environment.scheduler.now_ms(), hash32(`id ${name}`, seed), hash32(`second half ${name}`, seed));
}
