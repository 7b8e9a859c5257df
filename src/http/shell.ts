// The shell around every route sets the request id and the client address, and limits the URI and the body. Every
// answer gets the security headers, and all errors have the same form of body. Credentials, permissions and rate limits
// belong to the routes. The shell refuses only requests that no route could accept, and bodies that are malformed, too
// late or above a limit.
import { getLogger } from "@logtape/logtape";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { matchedRoutes } from "hono/route";
import { METHODS } from "hono/router";
import { URI_BYTES_MAX } from "../contract/limits.ts";
import { clientAddress } from "../lib/net/client-address.ts";
import type { Cidr } from "../lib/net/ip-address.ts";
import { compressAnswer } from "./compression.ts";
import { goneSignal, type HttpEnv } from "./env.ts";
import { errorAnswer, INTERNAL, type Refusal, UNAVAILABLE } from "./error-answer.ts";
import type { BodyAdmission } from "./body-admission.ts";
import { takeBody } from "./json-body.ts";
import { schemaRefusal } from "./zod-message.ts";

export type Observation = {
  readonly method: string;
  /** The route's pattern, or "unmatched". The actual path would have an unlimited number of values. */
  readonly route: string;
  readonly status: number;
  readonly duration_s: number;
};

export type ShellOptions = {
  readonly trustedProxies?: readonly Cidr[];
  /** Called before a body is read, unless the server has read it already. */
  readonly admitBody?: BodyAdmission;
  readonly observe?: (seen: Observation) => void;
  /**
   * Returns whether an error means that the database or a token issuer is not available. In this case the answer is 503
   * instead of 500.
   */
  readonly unavailable?: (error: unknown) => boolean;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const LOGGED_CHARS_MAX = 8_000;
const logger = getLogger(["berth", "http"]);

/** Returns an app with the shell and no routes. Serve its `fetch(request, peer)`. */
export function newApp(options: ShellOptions = {}): OpenAPIHono<HttpEnv> {
  const app = new OpenAPIHono<HttpEnv>({
    defaultHook: (result, c) => {
      if (!result.success) return errorAnswer(c, schemaRefusal(result.target, result.error.issues));
    },
  });
  app.use("*", async (c, next) => {
    const start = performance.now();
    introduce(c, options);
    const refusal = uriRefusal(c) ?? await takeBody(c, options.admitBody);
    if (refusal) c.res = errorAnswer(c, refusal);
    else await next();
    await compressAnswer(c);
    finish(c);
    options.observe?.({
      method: c.req.method,
      route: matchedRoutes(c).findLast((route) => route.method !== "ALL")?.path ?? "unmatched",
      status: c.res.status,
      duration_s: (performance.now() - start) / 1_000,
    });
  });
  app.onError((error, c) => failure(error, c, options));
  app.notFound((c) => errorAnswer(c, unrouted(app, c)));
  return app;
}

function introduce(c: Context<HttpEnv>, options: ShellOptions): void {
  const asked = c.req.header("x-request-id");
  c.set("requestId", asked !== undefined && UUID.test(asked) ? asked.toLowerCase() : crypto.randomUUID());
  c.set("principal", { kind: "anonymous" });
  c.set("checked", c.env?.checked);
  c.set(
    "clientAddress",
    clientAddress({
      peer: c.env?.remoteAddress,
      forwardedFor: c.req.header("x-forwarded-for"),
      trusted: options.trustedProxies ?? [],
    }),
  );
}

function uriRefusal(c: Context<HttpEnv>): Refusal | null {
  const { url } = c.req;
  if (url.length > URI_BYTES_MAX) {
    return { status: 414, message: `the URI must not be longer than ${URI_BYTES_MAX} bytes` };
  }
  // PostgreSQL's type text cannot contain a NUL, and no name contains one.
  if (url.includes("%00")) return { status: 400, message: "the URI must not contain a NUL character" };
  const queryAt = url.indexOf("?");
  if (queryAt === -1) return null;
  const seen = new Set<string>();
  for (const key of new URLSearchParams(url.slice(queryAt + 1)).keys()) {
    if (seen.has(key)) return { status: 400, message: "query: a key must not be repeated" };
    seen.add(key);
  }
  return null;
}

/**
 * Sets the headers of every answer (docs/reliability.md, S-33 and S-34). A route may set its own cache-control and
 * content-security-policy.
 */
function finish(c: Context<HttpEnv>): void {
  const { headers } = c.res;
  headers.set("x-request-id", c.get("requestId"));
  headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (!headers.has("content-security-policy")) {
    headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
}

function failure(error: Error, c: Context<HttpEnv>, options: ShellOptions): Response {
  if (error instanceof HTTPException && error.status < 500) {
    return errorAnswer(c, { status: error.status as Refusal["status"], message: error.message });
  }
  const gone = goneSignal(c).aborted;
  logger[gone ? "debug" : "error"]("request failed", {
    request_id: c.get("requestId"),
    method: c.req.method,
    path: c.req.path, // without the query, which may hold a poll token
    error: (error.stack ?? String(error)).slice(0, LOGGED_CHARS_MAX),
  });
  return errorAnswer(c, options.unavailable?.(error) === true ? UNAVAILABLE : INTERNAL);
}

function unrouted(app: OpenAPIHono<HttpEnv>, c: Context<HttpEnv>): Refusal {
  const allowed = METHODS.map((method) => method.toUpperCase()).filter((method) => hasRoute(app, method, c.req.path));
  if (allowed.length === 0) return { status: 404, message: "Not Found" };
  if (allowed.includes("GET")) allowed.push("HEAD");
  return { status: 405, message: `${c.req.method} is not allowed here`, headers: { allow: allowed.join(", ") } };
}

function hasRoute(app: OpenAPIHono<HttpEnv>, method: string, path: string): boolean {
  return app.router.match(method, path)[0].some(([[, route]]) => route.method === method);
}
