// Defines the routes for the sign-in to the web console at an issuer (docs/web-console.md, "Sign-in with an identity
// provider"). If a sign-in fails, these routes send the browser to the console, which shows the reason.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { NO_OIDC_COOKIE, oidcCookie, oidcCookieValue } from "../auth/oidc-cookie.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { OIDC_TEXT_CHARS_MAX } from "../contract/limits.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import type { OidcFailure, OidcSignedIn } from "../services/oidc-sign-in.ts";
import { openWebSession } from "../services/web-session.ts";
import { openRights, refuses } from "./answer.ts";
import type { App, Ctx, RouteDeps } from "./deps.ts";

type Deps = Pick<
  RouteDeps,
  "allow" | "audit" | "credentials" | "kysely" | "limits" | "newId" | "oidc" | "send" | "settings" | "tokens"
>;

const tags = ["Credentials"];
const CONSOLE = "/console/";
const CALLBACK = "/v1/auth/oidc/callback";
const Text = z.string().max(OIDC_TEXT_CHARS_MAX);
const ReturnPath = Text.refine(isConsolePath, `must be a path below ${CONSOLE}`);

export function oidcRoutes(app: App, deps: Deps): void {
  const limited = createMiddleware<HttpEnv>(async (c, next) => {
    const refusal = await deps.limits.login(c.get("clientAddress"));
    if (refusal !== null) return faultResponse(c, refusal);
    await next();
  });
  const open = openRights(deps, "OidcSignIn");
  const shared = { ...open, middleware: [limited, ...open.middleware], ...refuses(429) };

  const startRoute = createRoute({
    method: "get",
    path: "/v1/auth/oidc/start",
    tags,
    summary: "Send a browser to an issuer, to sign in to the web console",
    description:
      "Without `tenant`, operators sign in at the identity service of the site. If a sign-in is not possible, the " +
      `browser is sent to ${CONSOLE}; the query parameter sign_in contains the reason.`,
    ...shared,
    request: {
      query: z.object({
        tenant: Uuid.optional().describe("The tenant whose identity provider signs the user in"),
        return: ReturnPath.optional().describe(`The page to show after the sign-in. Default: ${CONSOLE}`),
      }),
    },
    responses: {
      302: {
        description: "A redirect to the issuer, with a cookie that identifies the sign-in when the browser returns",
      },
      ...ERROR_RESPONSES,
    },
  });
  app.openapi(startRoute, async (c) => {
    const { tenant, return: return_path = CONSOLE } = c.req.valid("query");
    const redirect_uri = callbackAt(c);
    const started = await deps.oidc.start({ tenant_id: tenant ?? null, return_path, redirect_uri });
    if (typeof started === "string") return c.redirect(failed(started), 302);
    c.header("set-cookie", oidcCookie(started.sealed));
    return c.redirect(started.location, 302);
  });

  const callbackRoute = createRoute({
    method: "get",
    path: CALLBACK,
    tags,
    summary: "Open a session of the web console after a sign-in at an issuer",
    description:
      "The issuer sends the browser to this address. Register it with the issuer as the redirect URI of the client.",
    ...shared,
    request: {
      query: z.object({
        state: Text.optional(),
        code: Text.optional(),
        iss: Text.optional(),
        error: Text.optional(),
      }),
    },
    responses: {
      302: { description: "A redirect to the web console, with the cookie of a session" },
      ...ERROR_RESPONSES,
    },
  });
  app.openapi(callbackRoute, async (c) => {
    const { state, code, iss } = c.req.valid("query");
    const sealed = oidcCookieValue(c.req.header("cookie"));
    const signedIn = await deps.oidc.finish({ sealed, state, code, iss, redirect_uri: callbackAt(c) });
    const ended = typeof signedIn === "string" ? signedIn : await openSession(c, signedIn);
    if (ended === "refused") await deps.audit.refusedLogin(c, null);
    c.header("set-cookie", NO_OIDC_COOKIE, { append: true });
    return c.redirect(typeof ended === "string" ? failed(ended) : ended.return_path, 302);
  });

  /** Returns the address to which issuers send browsers back. */
  function callbackAt(c: Ctx): string {
    return deps.oidc.originAt(c.req.header("host") ?? new URL(c.req.url).host) + CALLBACK;
  }

  async function openSession(c: Ctx, signedIn: OidcSignedIn): Promise<OidcSignedIn | OidcFailure> {
    c.set("principal", signedIn.principal);
    const opened = await openWebSession(c, deps, signedIn.opening);
    return isFault(opened) ? "refused" : signedIn;
  }
}

function failed(failure: OidcFailure): string {
  return `${CONSOLE}?sign_in=${failure}`;
}

/** Returns whether a browser that follows the path stays in the console. */
function isConsolePath(path: string): boolean {
  const base = "https://berth.invalid";
  const url = URL.parse(path, base);
  return path.startsWith(CONSOLE) && url?.origin === base && url.pathname.startsWith(CONSOLE) && !/[\\\s]/.test(path);
}
