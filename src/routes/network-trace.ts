// Defines the route with which operators trace a packet of an instance, to find out where the packet stops
// (docs/networking.md, "Traces").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findInstance } from "../../actors/instance/reads.ts";
import { Uuid } from "../contract/common.ts";
import { badRequest, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { TRACE_WAIT_S } from "../contract/limits.ts";
import { NetworkTrace, TraceQuery } from "../contract/network-trace.ts";
import { faultResponse } from "../http/fault-status.ts";
import { type Ask, traceFrom } from "../services/network-trace.ts";
import { answers, refuses, rights } from "./answer.ts";
import type { App, Ctx, Reads, RouteDeps } from "./deps.ts";
import { hold } from "./long-poll.ts";

type Deps = Reads & Pick<RouteDeps, "holdShares" | "networks" | "newId" | "traceAnswers">;

const BUSY = fault("unavailable", "too many traces are open for the node; try again", { retry_after_s: TRACE_WAIT_S });

export function networkTraceRoutes(app: App, deps: Deps): void {
  const traceRoute = createRoute({
    method: "get",
    path: "/v1/system/instances/{instance_id}/network-trace",
    tags: ["Instances"],
    summary: "Find out where the first packet of a connection from an instance stops",
    description:
      "Asks the nodes on the packet's path, one after another. Each node decides by the document that it has applied " +
      `and by the taps in its router. The verdict is \`unknown\` if a node does not answer within ${TRACE_WAIT_S} s. ` +
      "No packet is sent to the guest. 409 if the instance is on no node, or has no address of the destination's " +
      "family.",
    ...rights(deps, "NetworkTrace"),
    ...refuses(404, 409),
    request: { params: z.object({ instance_id: Uuid }), query: TraceQuery },
    responses: answers(NetworkTrace, "The nodes on the packet's path, and the place where the packet ends"),
  });
  app.openapi(traceRoute, async (c) => {
    const query = c.req.valid("query");
    const wrong = wrongPort(query);
    if (wrong !== null) return faultResponse(c, badRequest(wrong));
    const instance = await findInstance(deps.kysely, c.req.valid("param").instance_id);
    if (instance === undefined) return faultResponse(c, NOT_FOUND);
    const trace = await traceFrom(deps, asker(c, deps), { instance, query });
    return isFault(trace) ? faultResponse(c, trace) : c.json(trace, 200);
  });
}

function wrongPort({ destination, protocol, port }: TraceQuery): string | null {
  const family = destination.includes(":") ? 6 : 4;
  if (protocol === "tcp" || protocol === "udp") {
    return port === undefined ? `port: a ${protocol} packet needs a port, 1 to 65535` : null;
  }
  if (port !== undefined) return `port: ${protocol} has no ports`;
  return protocol === `icmp${family}`
    ? null
    : `protocol: ${protocol} does not fit an IPv${family} address; use icmp${family}`;
}

function asker(c: Ctx, deps: Deps): Ask {
  return async (server_uuid, question) => {
    if (!await deps.networks.ask(server_uuid, question)) return BUSY;
    const wait = { polls: deps.traceAnswers, key: question.trace_id, hold_ms: TRACE_WAIT_S * 1_000 };
    const held = await hold(c, deps, wait);
    await deps.networks.unask(question.trace_id);
    return isFault(held) ? held : held.found;
  };
}
