// Defines the route for the node's end of a console. The node connects to the server, because nodes have no open port.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { Uuid } from "../contract/common.ts";
import { badRequest, NOT_FOUND } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ACCEPTED_SOCKET_STATUS } from "../http/websocket.ts";
import { CONSOLE_PROTOCOL } from "../lib/console/frames.ts";
import { nodeOf } from "../services/calling-node.ts";
import { rights, switchesProtocols } from "./answer.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";

type Deps = Reads & Pick<RouteDeps, "consoles">;

const NO_SOCKET = badRequest("this is a WebSocket: send `Upgrade: websocket`");

export function agentConsoleRoutes(app: App, deps: Deps): void {
  const dialRoute = createRoute({
    method: "get",
    path: "/v1/agent/consoles/{session_id}",
    tags: ["Node agent"],
    summary: "Connect a node to a console that waits for it",
    description:
      "A WebSocket. The node opens the WebSocket when the answer to its poll contains a console call. 404 if this " +
      "server process does not wait for the node. Behind a load balancer, another attempt may reach the process that " +
      "waits.",
    ...rights(deps, "AgentConsole"),
    request: { params: z.object({ session_id: Uuid }) },
    responses: switchesProtocols("The console"),
  });
  app.openapi(dialRoute, (c) => {
    const id = c.req.valid("param").session_id;
    const cn = nodeOf(c);
    if (!deps.consoles.isWaiting(id, cn)) return faultResponse(c, NOT_FOUND);
    const upgrade = c.env?.upgrade;
    if (upgrade === undefined) return faultResponse(c, NO_SOCKET);
    const still = async () => (await c.get("checkAgain")?.() ?? null) === null;
    upgrade({ protocol: CONSOLE_PROTOCOL, opened: (socket) => deps.consoles.meet({ id, cn, still }, socket) });
    return c.body(null, ACCEPTED_SOCKET_STATUS) as never;
  });
}
