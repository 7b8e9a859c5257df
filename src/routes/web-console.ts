// Defines the routes for the page at the server's address, and for the files of the web console.
import { createRoute } from "@hono/zod-openapi";
import { Greeting } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { WebConsoleFiles } from "../http/web-console-files.ts";
import { answers, openRights } from "./answer.ts";
import type { Access, App } from "./deps.ts";

const PREFIX = "/console/";

type Deps = Access & {
  readonly version: string;
  readonly webConsole: WebConsoleFiles;
  /** Whether the site has an identity service with a client for the console. */
  readonly identity_service: boolean;
};

export function webConsoleRoutes(app: App, deps: Deps): void {
  const greetingRoute = createRoute({
    method: "get",
    path: "/",
    tags: ["System"],
    summary: "Show the version of the server and the paths of its console and API description",
    description: "A request that accepts text/html comes from a browser and is redirected to the web console.",
    ...openRights(deps, "WebConsole"),
    responses: {
      ...answers(Greeting, "The addresses"),
      302: { description: "A redirect to the web console, for a browser" },
    },
  });
  app.openapi(greetingRoute, (c) => {
    c.header("vary", "accept");
    if (c.req.header("accept")?.includes("text/html")) return c.redirect(PREFIX, 302);
    const { version, identity_service } = deps;
    const addresses = { console: PREFIX, docs: "/docs", openapi: "/openapi.json" };
    return c.json({ name: "Berth" as const, version, ...addresses, identity_service }, 200);
  });

  // The web console itself chooses the paths of its pages, so the API description does not list them.
  const authorize = deps.allow("WebConsole");
  app.get("/console", authorize, (c) => c.redirect(PREFIX, 302));
  app.get(`${PREFIX}*`, authorize, async (c) => {
    const answer = await deps.webConsole.answer(c, c.req.path.slice(PREFIX.length));
    return answer ?? faultResponse(c, NOT_FOUND);
  });
}
