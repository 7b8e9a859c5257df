// Defines the routes for the serial console of an instance: a ticket, the WebSocket that it opens, and the log
// (docs/instances.md, "Serial console").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findTicketSession, listOpenConsoles } from "../../actors/console-session/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { sha256Hex } from "../auth/mint.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { ConsoleTicket, ConsoleTicketBody, OpenConsole } from "../contract/console.ts";
import { CONSOLE_DIAL_S, CONSOLE_LOG_BYTES_MAX } from "../contract/limits.ts";
import { badRequest, conflict, fault, isFault } from "../contract/fault.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ACCEPTED_SOCKET_STATUS } from "../http/websocket.ts";
import { CONSOLE_PROTOCOL, consoleTicketOf } from "../lib/console/frames.ts";
import { notRunning } from "../services/console-check.ts";
import { consoleInstance, nodeToDial, readWhole, sessionOf, takeConsole, TOO_MANY } from "../services/console-open.ts";
import { answers, answersCreated, jsonBody, openRights, refuses, rights, switchesProtocols } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps =
  & Writes
  & Pick<RouteDeps, "audit" | "consoles" | "consoleShares" | "mint" | "newId" | "referenced" | "relay_url">;

const tags = ["Instances"];
const path = "/v1/instances/{instance_id}";
const params = z.object({ instance_id: Uuid });
const atInstance = atRow("instance", "instance_id");

const TICKET_REFUSED = fault(
  "forbidden",
  "the console ticket is missing, not recognized, expired or used; request a new ticket",
  { error_code: "Forbidden" },
);
const NO_SOCKET = badRequest("this is a WebSocket: send `Upgrade: websocket`");
/** The longest time for reading a log, including the wait for the node. */
const LOG_LIMIT_MS = 4 * CONSOLE_DIAL_S * 1_000;

export function instanceConsoleRoutes(app: App, deps: Deps): void {
  const ticketRoute = createRoute({
    method: "post",
    path: `${path}/console-ticket`,
    tags,
    summary: "Get a ticket for the serial console",
    description:
      "The ticket opens one console within 60 s: GET /v1/instances/{instance_id}/console. It is bound to the caller, " +
      "the instance and the mode. 409 if the instance has no running machine.",
    ...rights(deps, "InstanceConsole", atInstance),
    request: { params, body: { ...jsonBody(ConsoleTicketBody), required: false } },
    responses: answersCreated(ConsoleTicket, "The ticket, shown once"),
  });
  app.openapi(ticketRoute, async (c) => {
    const instance = await consoleInstance(deps, c.req.valid("param").instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    const off = notRunning(instance);
    if (off !== null) return faultResponse(c, conflict(off));
    const { mode, take_over, history_bytes } = ConsoleTicketBody.parse(c.req.valid("json") ?? {});
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const ticket = deps.mint.consoleTicket(idempotency.id);
    const id = deps.mint.idFrom(idempotency.id, "console-session");
    const outcome = await deps.send(c, { kind: "console-session", id }, {
      type: "issue",
      ...sessionOf(callerOf(c), instance, id),
      mode,
      take_over: take_over && mode === "write",
      history_bytes,
      ticket_sha256: sha256Hex(ticket),
    }, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ session_id: id, ticket, expires_at: outcome.reply.expires_at }, 201);
  });

  const openRoute = createRoute({
    method: "get",
    path: `${path}/console`,
    tags,
    summary: "Open the serial console",
    description:
      `A WebSocket. The client offers the subprotocols \`${CONSOLE_PROTOCOL}\` and \`berth.ticket.TICKET\`. Binary ` +
      "frames are bytes of the console, text frames are control messages in JSON (docs/wire.md). No other credential " +
      "is needed; if one is sent, it must belong to the user who got the ticket.",
    ...openRights(deps, "InstanceConsoleOpen"),
    ...refuses(403),
    request: { params },
    responses: switchesProtocols("The console"),
  });
  app.openapi(openRoute, async (c) => {
    const ticket = consoleTicketOf(c.req.header("sec-websocket-protocol"));
    const session = ticket === null ? undefined : await findTicketSession(deps.kysely, sha256Hex(ticket));
    if (session === undefined || session.instance_id !== c.req.valid("param").instance_id) {
      return faultResponse(c, TICKET_REFUSED);
    }
    const sender = c.get("principal");
    if (sender.kind === "user" && sender.user_id !== session.user_id) {
      await deps.audit.denied(c, "instance_console_open", `Instance::"${session.instance_id}"`);
      return faultResponse(c, TICKET_REFUSED);
    }
    const caller = await deps.referenced(session);
    if (caller === null) return faultResponse(c, TICKET_REFUSED);
    const upgrade = c.env?.upgrade;
    if (upgrade === undefined) return faultResponse(c, NO_SOCKET);
    const instance = await consoleInstance(deps, session.instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    c.set("principal", caller);
    const { id, mode } = session;
    const opening = takeConsole(c, deps, { id, mode, instance, caller, weight: 1 });
    if (opening === null) return faultResponse(c, TOO_MANY);
    const call = { type: "call", cn: nodeToDial(instance), relay_url: deps.relay_url } as const;
    upgrade({
      protocol: CONSOLE_PROTOCOL,
      failed: opening.cancel,
      opened: (socket) => {
        const live = opening.open(socket);
        // This process must already wait for the node when the node gets the console call. The actor of the session
        // accepts only one call, so a second connection with the same ticket is refused.
        deps.send(c, { kind: "console-session", id }, call).then(
          (outcome) =>
            outcome.ok || live.end(outcome.fault.kind === "not_found" ? TICKET_REFUSED.message : outcome.fault.message),
          () => live.end("the control plane could not call the node. Try again"),
        );
      },
    });
    return c.body(null, ACCEPTED_SOCKET_STATUS) as never;
  });

  const listRoute = createRoute({
    method: "get",
    path: `${path}/consoles`,
    tags,
    summary: "List the open serial consoles of an instance",
    description: "Oldest first, with their users. Consoles that wait for their node are not in the list.",
    ...rights(deps, "InstanceConsoleList", atInstance),
    request: { params },
    responses: answers(z.object({ items: z.array(OpenConsole) }), "The consoles"),
  });
  app.openapi(listRoute, async (c) => {
    return c.json({ items: await listOpenConsoles(deps.kysely, c.req.valid("param").instance_id) }, 200);
  });

  const logRoute = createRoute({
    method: "get",
    path: `${path}/console-log`,
    tags,
    summary: "Read the log of the serial console",
    description:
      "The last 1 MiB that the machine wrote to its serial console, unchanged. The node keeps this output in memory " +
      "until the next start of the instance or of the node's agent. 502 if the node does not answer.",
    ...rights(deps, "InstanceConsoleLog", atInstance),
    ...refuses(409, 502),
    request: { params },
    responses: { ...LOG_ANSWER, ...ERROR_RESPONSES },
  });
  app.openapi(logRoute, async (c) => {
    const instance = await consoleInstance(deps, c.req.valid("param").instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    if (instance.host_cn_uuid === null) return faultResponse(c, conflict(`${instance.name} has no machine yet`));
    const read = {
      instance,
      mode: "log",
      bytes_max: CONSOLE_LOG_BYTES_MAX,
      weight: 1,
      limit_ms: LOG_LIMIT_MS,
    } as const;
    const found = await readWhole(c, deps, read);
    if (isFault(found)) return faultResponse(c, found);
    return c.body(found, 200, { "content-type": "text/plain; charset=utf-8" }) as never;
  });
}

const LOG_ANSWER = { 200: { description: "The log", content: { "text/plain": { schema: z.string() } } } } as const;
