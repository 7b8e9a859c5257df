// Defines the poll of node agents: one long-poll request with the reports and requests of a node (docs/nodes.md,
// "Reports of a node").
import { createRoute } from "@hono/zod-openapi";
import { NODE_NOT_APPROVED } from "../../actors/job/transition.ts";
import { AgentPollBody, AgentPollView } from "../contract/agent-poll.ts";
import { type Fault, fault, isFault } from "../contract/fault.ts";
import type { ClaimView } from "../contract/job.ts";
import type { NetworkPollView } from "../contract/network-document.ts";
import { goneSignal } from "../http/env.ts";
import { forgetBody } from "../http/json-body.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, ASKS, jsonBody, rights } from "./answer.ts";
import { nodeOf } from "../services/calling-node.ts";
import { type Asked as AskedJobs, createJobClaims, hasWork } from "../services/job-claims.ts";
import { takeStatus } from "../services/take-status.ts";
import type { App, Ctx, NetworkAsked, Polls, RouteDeps, Writes } from "./deps.ts";
import { firstOf } from "./first-of.ts";
import { hold } from "./long-poll.ts";

type Deps =
  & Writes
  & Pick<
    RouteDeps,
    | "claims"
    | "hold_ms"
    | "holdShares"
    | "mint"
    | "networkPolls"
    | "networks"
    | "newId"
    | "pollIntervalS"
    | "settings"
    | "signals"
    | "workOf"
  >;
type Said = ReturnType<typeof AgentPollBody["parse"]>;
type Asked = { readonly jobs: AskedJobs | null; readonly network: NetworkAsked | null };
type Found = { readonly work: ClaimView | null; readonly network: NetworkPollView | null };

export function agentPollRoutes(app: App, deps: Deps): void {
  const jobClaims = createJobClaims(deps);

  const pollRoute = createRoute({
    method: "post",
    path: "/v1/agent/poll",
    tags: ["Node agent"],
    summary: "Send a heartbeat and reports, and wait for work and network documents",
    description:
      "This request replaces the heartbeat, the status report, the capacity report, the claim and the network poll, " +
      "which older agents send separately. The server stores the reports when the request arrives. Then the request " +
      "waits, at most `interval_s`, until there is a job, a tombstone, a console call or a changed network document. " +
      "If the node's key is deleted while the request waits, the request gets 401.",
    ...rights(deps, "AgentPoll"),
    ...ASKS,
    request: { body: jsonBody(AgentPollBody) },
    responses: answers(AgentPollView, "Work and documents, and the advised interval"),
  });
  app.openapi(pollRoute, async (c) => {
    const said = c.req.valid("json");
    if (said.server_uuid !== nodeOf(c)) return faultResponse(c, OTHER_NODE);
    const asked = askedOf(said);
    // If this answer becomes a fault, a job may already be claimed. The next poll returns this job again, because the
    // node does not list the job.
    const [refusal, found, interval_s] = await Promise.all([take(c, said), begin(c, asked), deps.pollIntervalS()]);
    if (refusal !== null) return faultResponse(c, refusal);
    if (isFault(found)) return faultResponse(c, found);
    forgetBody(c);
    // Frees the reports: they may be large, and the request may wait long.
    said.status = said.capacity = undefined;
    const hold_ms = Math.min((said.wait ?? 0) * 1_000, interval_s * 1_000, deps.hold_ms);
    if (hasNews(found) || hold_ms === 0) return c.json(await viewOf(found, asked, interval_s), 200);
    const woken = await hold(c, deps, { polls: pollsOf(found, asked), key: said.server_uuid, hold_ms });
    if (isFault(woken)) return faultResponse(c, woken);
    // A node must get neither a job nor a document if it disconnected during the wait, or if its key was deleted.
    if (goneSignal(c).aborted) return c.json({ interval_s, ...NOTHING }, 200);
    if (woken.found === null) return c.json(await viewOf(found, asked, interval_s), 200);
    const lost = await c.get("checkAgain")?.() ?? null;
    if (lost !== null) return faultResponse(c, lost);
    const later = await end(c, asked, found);
    return isFault(later) ? faultResponse(c, later) : c.json({ interval_s, ...later }, 200);
  });

  /** Stores the reports of the node. */
  async function take(c: Ctx, { running_jobs, network, status, capacity }: Said): Promise<Fault | null> {
    const node = nodeOf(c);
    const counts = network?.counts ?? [];
    const refusals = await Promise.all([
      deps.signals.heartbeat(node),
      deps.signals.running(node, running_jobs ?? []),
      capacity ? deps.signals.capacity(node, capacity) : null,
      status ? takeStatus(c, deps, status.payload) : null,
      counts.length > 0 ? deps.networks.count(node, counts).then(() => null) : null,
    ]);
    return refusals.find((each) => each !== null) ?? null;
  }

  /**
   * Finds the work and the documents when the request arrives. `network` is null if the poll did not request documents,
   * or if no document has changed.
   */
  async function begin(c: Ctx, { jobs, network }: Asked): Promise<Found | Fault> {
    const [work, documents] = await Promise.all([
      jobs === null ? null : jobClaims.first(c, jobs),
      network === null ? null : deps.networks.begin(network),
    ]);
    return foundOf(work, documents);
  }

  /**
   * Finds the work and the documents after the wait. A node gets no job if it was not approved when the request
   * arrived.
   */
  async function end(c: Ctx, { jobs, network }: Asked, first: Found): Promise<Found | Fault> {
    const [work, documents] = await Promise.all([
      jobs === null || first.work === null ? null : jobClaims.next(c, jobs),
      network === null ? null : deps.networks.answer(network),
    ]);
    return foundOf(work, documents);
  }

  async function viewOf(found: Found, { network }: Asked, interval_s: number): Promise<AgentPollView> {
    // Even if no document has changed, a node that stores documents gets the addresses of the other nodes again,
    // because the node may have failed to apply these addresses.
    const repeats = found.network === null && network !== null && Object.keys(network.have).length > 0;
    return { interval_s, work: found.work, network: repeats ? await deps.networks.answer(network) : found.network };
  }

  function pollsOf({ work }: Found, { network }: Asked): Polls<object> {
    return firstOf([...(work === null ? [] : [deps.claims]), ...(network === null ? [] : [deps.networkPolls])]);
  }
}

function askedOf({ server_uuid, running_jobs, work, network }: Said): Asked {
  return {
    jobs: work ? { server_uuid, running: running_jobs ?? null, consoles: work.known_consoles ?? null } : null,
    network: network ? { server_uuid, have: network.have, answers_traces: network.traces === true } : null,
  };
}

/** A node that is not approved gets no work; the rest of its poll is answered. */
function foundOf(work: ClaimView | Fault | null, network: NetworkPollView | null): Found | Fault {
  if (work === null || !isFault(work)) return { work, network };
  return work.kind === NODE_NOT_APPROVED.kind ? { work: null, network } : work;
}

function hasNews({ work, network }: Found): boolean {
  return network !== null || (work !== null && hasWork(work));
}

const NOTHING: Found = { work: null, network: null };
const OTHER_NODE = fault("forbidden", "server_uuid must be the UUID of the node whose key sends the request", {
  error_code: "Forbidden",
});
