// Defines the routes with which node agents fetch network documents, report what they have applied, and answer traces
// (docs/networking.md, "Network documents").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { conflict, type Fault, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { NicTagReport } from "../contract/external-network.ts";
import { NetworkPollBody, NetworkPollView, NetworkRealizationBody } from "../contract/network-document.ts";
import { TraceAnswer } from "../contract/network-trace.ts";
import { goneSignal } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { nodeOf } from "../services/calling-node.ts";
import { answers, ASKS, jsonBody, refuses, REPEATABLE, rights } from "./answer.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";
import { hold } from "./long-poll.ts";

type Deps = Reads & Pick<RouteDeps, "hold_ms" | "holdShares" | "networkPolls" | "networks">;

const tags = ["Node agent"];
const Done = z.null().describe("Accepted");

export function agentNetworkRoutes(app: App, deps: Deps): void {
  const pollRoute = createRoute({
    method: "post",
    path: "/v1/agent/network/poll",
    tags,
    summary: "Wait for changed network documents",
    description:
      "A node has a document for a VPC if it hosts a NAT gateway or a NIC of the VPC, even the NIC of a stopped " +
      "instance. The answer contains each document that is newer than the node's generation in `have`. With " +
      "`wait`, the request waits until a document is newer, a VPC is gone or a trace is open. The node removes " +
      "each VPC in `gone`; its next poll, without that VPC, confirms the removal. `counts` stores counters of " +
      "firewall rules and NAT gateways.",
    ...rights(deps, "NetworkPoll"),
    ...ASKS,
    request: { body: jsonBody(NetworkPollBody) },
    responses: answers(NetworkPollView, "The newer documents, and the VPCs to remove"),
  });
  app.openapi(pollRoute, async (c) => {
    const { wait, have, counts, traces } = c.req.valid("json");
    const asked = { server_uuid: nodeOf(c), have, answers_traces: traces === true };
    if (counts && counts.length > 0) await deps.networks.count(asked.server_uuid, counts);
    const first = await deps.networks.begin(asked);
    if (first !== null) return c.json(first, 200);
    const hold_ms = Math.min(wait * 1_000, deps.hold_ms);
    if (hold_ms === 0) return c.json(await deps.networks.answer(asked), 200);
    const woken = await hold(c, deps, { polls: deps.networkPolls, key: asked.server_uuid, hold_ms });
    if (isFault(woken)) return faultResponse(c, woken);
    // If the node has disconnected, no document must count as sent.
    if (goneSignal(c).aborted) return c.json(NOTHING, 200);
    const lost = await c.get("checkAgain")?.() ?? null;
    if (lost !== null) return faultResponse(c, lost);
    return c.json(await deps.networks.answer(asked), 200);
  });

  const realizationRoute = createRoute({
    method: "post",
    path: "/v1/agent/network-realization",
    tags,
    summary: "Report the generation of a VPC that the node has applied",
    description:
      "`applied` confirms that the node has applied the whole document of this generation, and so all earlier " +
      "generations. 403 when `realizer` is not the calling node. 404 if the node has no document of the VPC. " +
      "409 for a generation that is older than the last reported generation, and for a generation that the VPC does " +
      "not have yet. Also 409 for `accepted` after the outcome of the same generation.",
    ...rights(deps, "NetworkRealizationReport"),
    ...REPEATABLE,
    ...refuses(403, 404, 409),
    request: { body: jsonBody(NetworkRealizationBody) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(realizationRoute, async (c) => {
    const { resource, realizer, generation, status, message } = c.req.valid("json");
    const server_uuid = nodeOf(c);
    if (realizer.id !== server_uuid) return faultResponse(c, OTHER_NODE);
    const report = { vpc_id: resource.id, server_uuid, generation, status, message: message ?? null };
    const refusal = refusalOf(report, await deps.networks.report(report));
    return refusal === null ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const traceRoute = createRoute({
    method: "post",
    path: "/v1/agent/network/trace",
    tags,
    summary: "Answer a packet trace",
    description:
      "The body reports where the packet of the trace stops. The node got the trace as the answer to a poll. 404 if " +
      "no request waits for the answer.",
    ...rights(deps, "NetworkTraceAnswer"),
    ...ASKS,
    ...refuses(404),
    request: { body: jsonBody(TraceAnswer) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(traceRoute, async (c) => {
    const is_stored = await deps.networks.answerTrace(nodeOf(c), c.req.valid("json"));
    return is_stored ? c.json(null, 200) : faultResponse(c, NOT_FOUND);
  });

  const nicTagsRoute = createRoute({
    method: "post",
    path: "/v1/agent/nic-tags",
    tags,
    summary: "Report the NIC tags of the node with their bridges",
    description:
      "Replaces the tags that the node reported before. Names that no operator has created are dropped. An empty " +
      "list is ignored.",
    ...rights(deps, "NicTagInventoryReport"),
    ...ASKS,
    request: { body: jsonBody(NicTagReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(nicTagsRoute, async (c) => {
    const { nic_tags } = c.req.valid("json");
    const names = nic_tags.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) return faultResponse(c, fault("bad_request", `nic_tags: ${twice} is listed twice`));
    await deps.networks.nicTags(nodeOf(c), nic_tags);
    return c.json(null, 200);
  });
}

type Judged = Awaited<ReturnType<RouteDeps["networks"]["report"]>>;

function refusalOf(report: { readonly generation: number }, { verdict, generation }: Judged): Fault | null {
  switch (verdict) {
    case "stored":
      return null;
    case "unknown":
      return NOT_FOUND;
    case "older":
      return conflict(
        `the report about generation ${report.generation} is out of date: the node has reported generation ${generation}`,
      );
    case "ahead":
      return conflict(`the vpc has no generation ${report.generation} yet; its newest is ${generation}`);
  }
}

const NOTHING: NetworkPollView = { nodes: [], vpcs: [], gone: [] };
const OTHER_NODE = fault("forbidden", "realizer must be the node whose key sends the request", {
  error_code: "Forbidden",
});
