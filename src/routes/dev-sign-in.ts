// Defines the routes for a link that works once and signs in a browser on this machine to the web console. The link
// exists only in the development environment (BERTH_LAB), because its URL contains a code that is enough to sign in.
import { createRoute } from "@hono/zod-openapi";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { findSessionEpoch } from "../../actors/user/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { badRequest, isFault, NOT_FOUND } from "../contract/fault.ts";
import { DEV_SIGN_IN_CODE_BYTES, DEV_SIGN_IN_LINK_S } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { isLoopback } from "../lib/net/client-address.ts";
import { type Opening, openWebSession } from "../services/web-session.ts";
import { answersCreated, ASKS, openRights, refuses, rights } from "./answer.ts";
import type { App, RouteDeps } from "./deps.ts";

type Deps = Pick<RouteDeps, "allow" | "credentials" | "kysely" | "newId" | "send" | "settings" | "tokens">;

const tags = ["Development"];
const PATH = "/lab/sign-in";
const NO_KEY = badRequest("only an API key can create a link; the link has the rights of the key");

export function devSignInRoutes(app: App, deps: Deps): void {
  /** The links that have not been used yet, by code. A link expires when performance.now() reaches `ends_at_ms`. */
  const links = new Map<string, { readonly opening: Opening; readonly ends_at_ms: number }>();

  const createLinkRoute = createRoute({
    method: "post",
    path: PATH,
    tags,
    summary: "Create a link that signs in a browser once",
    ...rights(deps, "LabSignInLink"),
    ...ASKS,
    responses: answersCreated(z.object({ path: z.string() }), "The path of the link"),
  });
  app.openapi(createLinkRoute, async (c) => {
    const { user_id, key_id } = callerOf(c);
    const user_epoch = await findSessionEpoch(deps.kysely, user_id);
    if (key_id === null || user_epoch === undefined) return faultResponse(c, NO_KEY);
    const code = randomBytes(DEV_SIGN_IN_CODE_BYTES).toString("base64url");
    const ends_at_ms = performance.now() + DEV_SIGN_IN_LINK_S * 1_000;
    links.set(code, { opening: { user_id, user_epoch, api_key_id: key_id }, ends_at_ms });
    return c.json({ path: `${PATH}/${code}` }, 201);
  });

  const useLinkRoute = createRoute({
    method: "get",
    path: `${PATH}/{code}`,
    tags,
    summary: "Sign in a browser on this machine to the web console",
    ...openRights(deps, "WebConsole"),
    ...refuses(404),
    request: { params: z.object({ code: z.string().max(64) }) },
    responses: {
      302: { description: "A redirect to the web console, with the cookie of a session" },
      ...ERROR_RESPONSES,
    },
  });
  app.openapi(useLinkRoute, async (c) => {
    const { code } = c.req.valid("param");
    const link = links.get(code);
    if (link === undefined || !isLoopback(c.get("clientAddress"))) return faultResponse(c, NOT_FOUND);
    links.delete(code);
    if (performance.now() >= link.ends_at_ms) return faultResponse(c, NOT_FOUND);
    const opened = await openWebSession(c, deps, link.opening);
    return isFault(opened) ? faultResponse(c, opened) : c.redirect("/console/", 302);
  });
}
