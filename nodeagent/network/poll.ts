// Runs the loops of an enrolled node that ask for its network documents, apply them, repair differences of the kernel's
// state, and report the results.
import type { NetworkPollBody, NetworkPollView, NetworkRealizationBody } from "../../src/contract/network-document.ts";
import { NETWORK_MESSAGE_CHARS_MAX } from "../../src/contract/limits.ts";
import { type Agent, KeyRefused, log, refusalText, REQUEST_LIMIT_MS, rest, talk } from "../agent.ts";
import { hasDocuments, type Polls } from "../agent-poll.ts";
import type { TraceAnswer } from "../../src/contract/network-trace.ts";
import { answerTrace } from "./answer-trace.ts";
import type { Realization } from "./node-network.ts";

/** Pause after an answer of an older server, which has no network documents. */
const UNSUPPORTED_RETRY_MS = 60_000;
/**
 * Pause before the next attempt to apply a document that could not be applied. The creation of a guest may wait for the
 * document.
 */
const FAILED_RETRY_MS = 1_000;
/** Time between two reports of the counters of firewall rules. A poll that waits delays the next report. */
const COUNTS_MS = 60_000;
/** The number of pauses of FAILED_RETRY_MS between two comparisons of all routers with their documents: 60 s. */
const RESTS_PER_REPAIR = 60;
const NOT_FOUND = 404;

export type Follower = {
  /** Asks for network documents, applies them and reports the results. Ends only with an error. */
  poll(): Promise<never>;
  /** Retries failed documents, and compares all routers with their documents once a minute. Ends only with an error. */
  repair(): Promise<never>;
};

/** Creates the loops. Both throw KeyRefused when the key is rejected, and a Failure when the agent stops. */
export function createFollower(agent: Agent, api_key: string, polls: Pick<Polls, "documents" | "isUsed">): Follower {
  const { network } = agent.driver;
  const [polling, repairing] = [troubleLog(agent), troubleLog(agent)];
  // The UUID is read only once, because some drivers read the whole inventory for it, and this delays the next poll.
  let own_uuid: string | null = null;

  async function poll(): Promise<never> {
    // The agent may have been killed after it applied a document and before it reported the result.
    await reportAll(polling, network.realizations());
    let counted_ms = -Infinity;
    for (let is_older = false;;) {
      polling.begins();
      const sent_ms = agent.environment.monotonicMs();
      const wait = network.pollWaitS(agent.timers.claim_wait_s);
      const is_due = sent_ms - counted_ms >= COUNTS_MS;
      const counts = is_due ? await local(polling, network.counts.changed) ?? [] : [];
      const body: NetworkPollBody = {
        wait,
        have: network.have(),
        traces: true,
        ...(counts.length > 0 ? { counts: [...counts] } : {}),
      };
      const call = { method: "POST", path: "/v1/agent/network/poll", body } as const;
      const reply = await polls.documents(body) ??
        await talk(agent, api_key, { ...call, limit_ms: wait * 1_000 + REQUEST_LIMIT_MS });
      if (reply.kind === "answer" && reply.answer.status === 401) throw new KeyRefused();
      if (reply.kind === "answer" && reply.answer.status === NOT_FOUND) {
        if (!is_older) log(agent, "network: the control plane is older and sends no network documents");
        is_older = true;
        polling.ends();
        network.serverSendsDocuments(false);
        await rest(agent, UNSUPPORTED_RETRY_MS);
        continue;
      }
      if (reply.kind === "later" || reply.answer.status >= 300) {
        polling.failed(reply.kind === "later" ? reply.why : refusalText(reply.answer));
        await rest(agent, reply.kind === "later" ? reply.pause_ms : agent.timers.error_retry_ms);
        continue;
      }
      network.counts.arrived(counts);
      if (is_due) counted_ms = sent_ms;
      network.serverSendsDocuments(true);
      is_older = false;
      const view = reply.answer.body as NetworkPollView;
      await local(polling, () => network.answered(sent_ms, view));
      const has_changed = await carryOut(view);
      polling.ends();
      if (has_changed) continue;
      if (polls.isUsed() && !hasDocuments(view)) continue;
      // Prevents a tight loop if the server answers without waiting.
      const left_ms = agent.timers.job_poll_ms - (agent.environment.monotonicMs() - sent_ms);
      if (left_ms > 0) await rest(agent, left_ms);
    }
  }

  /**
   * Applies an answer and reports the results. Returns whether the answer contained a trace, or a change that the node
   * could make.
   */
  async function carryOut({ nodes, vpcs, gone, traces = [] }: NetworkPollView): Promise<boolean> {
    let has_changed = traces.length > 0;
    for (const question of traces) await answer(await answerTrace(network, question));
    // VPCs that are gone are removed first, because a new VPC may have the VNI of an old one.
    for (const vpc_id of gone) {
      await local(polling, () => network.remove(vpc_id));
      has_changed ||= network.have()[vpc_id] === undefined;
    }
    if (vpcs.length + Object.keys(network.have()).length > 0) await local(polling, () => network.acceptNodes(nodes));
    for (const document of vpcs) {
      const realization = await local(polling, () => network.take(document));
      if (realization === null) continue;
      await report(polling, realization);
      has_changed ||= realization.status === "applied";
    }
    return has_changed;
  }

  /** Runs work of this node. A failure, such as a full disk, is logged; a later round repeats the work. */
  async function local<T>(trouble: TroubleLog, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      trouble.failed((error as Error).message);
      await rest(agent, agent.timers.error_retry_ms);
      return null;
    }
  }

  async function repair(): Promise<never> {
    for (let rests = 1;; rests += 1) {
      await rest(agent, FAILED_RETRY_MS);
      const is_due = rests % RESTS_PER_REPAIR === 0;
      // Only a round with the comparison can show that the comparison works again.
      if (is_due) repairing.begins();
      await reportAll(repairing, await local(repairing, is_due ? network.repair : network.retryFailed) ?? []);
      if (is_due) repairing.ends();
    }
  }

  async function reportAll(trouble: TroubleLog, realizations: readonly Realization[]): Promise<void> {
    for (const realization of realizations) await report(trouble, realization);
  }

  /** Sends the answer to a trace only once: the request for the trace ends too early for a second attempt. */
  async function answer(body: TraceAnswer): Promise<void> {
    const path = "/v1/agent/network/trace";
    const reply = await talk(agent, api_key, { method: "POST", path, body, limit_ms: REQUEST_LIMIT_MS });
    if (reply.kind === "answer" && reply.answer.status === 401) throw new KeyRefused();
  }

  /** Reports a result, and repeats the report until the control plane answers. */
  async function report(trouble: TroubleLog, realization: Realization): Promise<void> {
    own_uuid ??= (await agent.driver.hardware()).server_uuid;
    const body: NetworkRealizationBody = {
      ...realization,
      message: realization.message?.slice(0, NETWORK_MESSAGE_CHARS_MAX) ?? null,
      realizer: { kind: "cn", id: own_uuid },
    };
    const call = { method: "POST", path: "/v1/agent/network-realization", body, limit_ms: REQUEST_LIMIT_MS } as const;
    for (;;) {
      const reply = await talk(agent, api_key, call);
      if (reply.kind === "answer" && reply.answer.status === 401) throw new KeyRefused();
      if (reply.kind === "answer") return;
      trouble.failed(reply.why);
      await rest(agent, reply.pause_ms);
    }
  }

  return { poll, repair };
}

/**
 * Records the failures of a loop. The poll loop calls `begins` in each round, and `ends` unless the request failed. The
 * repair loop calls both only in rounds that compare all routers.
 */
type TroubleLog = {
  begins(): void;
  failed(why: string): void;
  ends(): void;
};

/** Logs the first failure of several rounds in a row, and the recovery at the end of a round without a failure. */
function troubleLog(agent: Agent): TroubleLog {
  let in_trouble = false;
  let has_failed = false;
  return {
    begins: () => void (has_failed = false),
    failed: (why) => {
      if (!in_trouble) log(agent, `network: ${why}; retrying`);
      in_trouble = has_failed = true;
    },
    ends: () => {
      if (in_trouble && !has_failed) log(agent, "network: recovered");
      in_trouble = has_failed;
    },
  };
}
