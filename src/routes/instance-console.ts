// The serial console of an instance: a ticket, the WebSocket that it opens, and the log (docs/instances.md, "Serial
// console").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { type ConsoleInstance, findConsoleInstances, findTicketSession } from "../../actors/console-session/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { shareOf } from "../auth/caller.ts";
import { referenceOf } from "../auth/credential-reference.ts";
import { sha256Hex } from "../auth/mint.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { ConsoleTicket, ConsoleTicketBody } from "../contract/console.ts";
import type { ConsoleMode } from "../contract/enums.ts";
import { badRequest, conflict, type Fault, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { goneSignal } from "../http/env.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ACCEPTED_SOCKET_STATUS, type ServerSocket } from "../http/websocket.ts";
import { CONSOLE_PROTOCOL, consoleTicketOf } from "../lib/console/frames.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { notRunning } from "../services/console-check.ts";
import { createLogReader } from "../services/console-log.ts";
import { answersCreated, jsonBody, openRights, refuses, rights, switchesProtocols } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";

type Deps =
  & Writes
  & Pick<RouteDeps, "audit" | "consoles" | "consoleShares" | "mint" | "newId" | "referenced" | "relay_url">;

const tags = ["Instances"];
const path = "/v1/instances/{instance_id}";
const params = z.object({ instance_id: Uuid });
const atInstance = atRow("instance", "instance_id");

const TICKET_REFUSED = fault(
  "forbidden",
  "the console ticket is missing, not recognized, expired or used; request a new one",
  { error_code: "Forbidden" },
);
const NO_SOCKET = badRequest("this is a WebSocket: send `Upgrade: websocket`");
const TOO_MANY = fault("unavailable", "too many consoles are open; close one and try again", { retry_after_s: 5 });

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
    const instance = await instanceOf(c.req.valid("param").instance_id);
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
      ...wanted(callerOf(c), instance, id),
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
      "is needed; if one is sent, it must be of the user who got the ticket.",
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
    const instance = await instanceOf(session.instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    c.set("principal", caller);
    const { id, mode } = session;
    const opening = take(c, { id, mode, instance, caller });
    if (opening === null) return faultResponse(c, TOO_MANY);
    const call = { type: "call", cn: instance.host_cn_uuid ?? NOWHERE, relay_url: deps.relay_url } as const;
    upgrade({
      protocol: CONSOLE_PROTOCOL,
      opened: (socket) => {
        const live = opening.open(socket);
        // The process must wait before the node gets the call. Of two connections with one ticket, one is refused here.
        deps.send(c, { kind: "console-session", id }, call).then(
          (outcome) =>
            outcome.ok || live.end(outcome.fault.kind === "not_found" ? TICKET_REFUSED.message : outcome.fault.message),
          () => live.end("the control plane could not call the node. Try again"),
        );
      },
    });
    return c.body(null, ACCEPTED_SOCKET_STATUS) as never;
  });

  const logRoute = createRoute({
    method: "get",
    path: `${path}/console-log`,
    tags,
    summary: "Read the log of the serial console",
    description:
      "The last 1 MiB that the machine wrote to its serial console, as it wrote them. The node keeps them in memory, " +
      "until the machine is deleted or the node's agent restarts. 502 if the node does not answer.",
    ...rights(deps, "InstanceConsoleLog", atInstance),
    ...refuses(409, 502),
    request: { params },
    responses: { ...LOG_ANSWER, ...ERROR_RESPONSES },
  });
  app.openapi(logRoute, async (c) => {
    const instance = await instanceOf(c.req.valid("param").instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    if (instance.host_cn_uuid === null) return faultResponse(c, conflict(`${instance.name} has no machine yet`));
    const id = deps.newId();
    const caller = callerOf(c);
    const opening = take(c, { id, mode: "log", instance, caller });
    if (opening === null) return faultResponse(c, TOO_MANY);
    const reader = createLogReader();
    opening.open(reader.socket);
    c.set("held", true);
    const gone = goneSignal(c);
    gone.addEventListener("abort", reader.leave);
    try {
      const read = { type: "read", ...wanted(caller, instance, id), relay_url: deps.relay_url } as const;
      const outcome = await deps.send(c, { kind: "console-session", id }, read);
      if (!outcome.ok) return faultResponse(c, outcome.fault);
      const found = await reader.read;
      if (!("log" in found)) return faultResponse(c, fault("node_failed", found.message, FAILED));
      return c.body(found.log, 200, { "content-type": "text/plain; charset=utf-8" }) as never;
    } finally {
      gone.removeEventListener("abort", reader.leave);
      reader.leave();
    }
  });

  async function instanceOf(id: string): Promise<ConsoleInstance | Fault> {
    return (await findConsoleInstances(deps.kysely, [id])).get(id) ?? NOT_FOUND;
  }

  type Opening = {
    readonly id: string;
    readonly mode: ConsoleMode;
    readonly instance: ConsoleInstance;
    readonly caller: KnownPrincipal;
  };

  /** Takes the caller's share of the consoles. Returns null when it is used up. */
  function take(c: Ctx, { id, mode, instance, caller }: Opening) {
    let evicted = () => {};
    const slot = deps.consoleShares.take(shareOf(caller).id, 1, () => evicted());
    if (slot === null) return null;
    const open = (socket: ServerSocket) => {
      c.env?.known?.(shareOf(caller).id);
      const live = deps.consoles.open({
        id,
        mode,
        instance_id: instance.id,
        cn: instance.host_cn_uuid ?? NOWHERE,
        reference: referenceOf(caller),
        caller: socket,
        // A report that fails is not repeated: without renewals the session ends when its lease expires.
        report: (message) => void deps.send(c, { kind: "console-session", id }, message).catch(() => {}),
        ended: slot.release,
      });
      evicted = () => live.end(TOO_MANY.message);
      return live;
    };
    return { open };
  }
}

/** The node of an instance that has none. The nil UUID names no node. */
const NOWHERE = "00000000-0000-0000-0000-000000000000";
const FAILED = { error_code: "OperationFailed" } as const;
const LOG_ANSWER = { 200: { description: "The log", content: { "text/plain": { schema: z.string() } } } } as const;

function wanted(caller: KnownPrincipal, instance: ConsoleInstance, id: string) {
  const { credential_expires_at: expires_at, ...reference } = referenceOf(caller);
  return {
    id,
    instance_id: instance.id,
    cn: instance.host_cn_uuid ?? NOWHERE,
    ...reference,
    username: caller.username,
    credential_expires_at: expires_at === null ? null : toRfc3339(expires_at),
  };
}
