// Defines the routes for health, readiness, metrics, and the API description.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { SEARCH_CHARS_MAX } from "../contract/limits.ts";
import { Health } from "../contract/common.ts";
import { fault } from "../contract/fault.ts";
import { docsPage } from "../http/docs-page.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { Metrics } from "../http/metrics.ts";
import { openApiDocument } from "../http/openapi.ts";
import { isLoopback } from "../lib/net/client-address.ts";
import { answers, openRights, rights } from "./answer.ts";
import type { Access, App } from "./deps.ts";

const tags = ["System"];

export type SystemDeps = Access & {
  readonly version: string;
  readonly metrics: Metrics;
  /** Returns whether the database answers. */
  readonly ready: () => Promise<boolean>;
  readonly schemas: Readonly<Record<string, z.ZodType>>;
};

/**
 * Headers that proxies add. A request from a loopback address with such a header came through a local proxy that is not
 * in BERTH_TRUSTED_PROXIES.
 */
const PROXY_HEADERS = ["x-forwarded-for", "forwarded", "x-real-ip", "via"];
const NOT_READY = fault("unavailable", "the database does not answer", { retry_after_s: 1 });

/**
 * Adds the system routes. The API description lists the routes that exist when the description is requested for the
 * first time.
 */
export function systemRoutes(app: App, deps: SystemDeps): void {
  const healthRoute = createRoute({
    method: "get",
    path: "/v1/health",
    tags,
    summary: "Check that the server is running",
    ...openRights(deps, "Health"),
    responses: answers(Health, "The server is running"),
  });
  app.openapi(healthRoute, (c) => c.json({ status: "ok" as const, version: deps.version }, 200));

  const readyRoute = createRoute({
    method: "get",
    path: "/readyz",
    tags,
    summary: "Check that the database answers",
    ...openRights(deps, "Health"),
    responses: answers(z.object({ status: z.literal("ready") }), "The server is ready"),
  });
  app.openapi(
    readyRoute,
    async (c) => await deps.ready() ? c.json({ status: "ready" as const }, 200) : faultResponse(c, NOT_READY),
  );

  const metricsRights = rights(deps, "MetricsRead");
  const [authorize] = metricsRights.middleware;
  const metricsRoute = createRoute({
    method: "get",
    path: "/metrics",
    tags,
    summary: "Read the metrics of this process in the text format of Prometheus",
    ...metricsRights,
    "x-rights": `${metricsRights["x-rights"]}; or a caller on the loopback interface`,
    // Callers on this machine need no key. A key that is sent is checked.
    middleware: [createMiddleware<HttpEnv>(async (c, next) => {
      const others = ["authorization", ...PROXY_HEADERS].some((name) => c.req.header(name) !== undefined);
      const isLocal = isLoopback(c.get("clientAddress")) && !others;
      return isLocal ? await next() : await authorize(c, next);
    })],
    responses: { 200: { description: "Prometheus exposition text" } },
  });
  app.openapi(metricsRoute, async (c) => {
    const { body, contentType } = await deps.metrics.text();
    return c.body(body, 200, { "content-type": contentType });
  });

  const describeRoute = createRoute({
    method: "get",
    path: "/openapi.json",
    tags,
    summary: "Read the description of this API as OpenAPI 3.0.3",
    ...openRights(deps, "ApiDescription"),
    responses: { 200: { description: "The document" } },
  });
  const document = memo(() => openApiDocument(app, { version: deps.version, schemas: deps.schemas }));
  app.openapi(describeRoute, (c) => c.json(document(), 200));

  const docsRoute = createRoute({
    method: "get",
    path: "/docs",
    tags,
    summary: "Read the description of this API as an HTML page",
    ...openRights(deps, "ApiDescription"),
    request: {
      query: z.object({
        q: z.string().max(SEARCH_CHARS_MAX).optional().describe("Only endpoints that contain every word of this text"),
      }),
    },
    responses: { 200: { description: "HTML without scripts and external resources" } },
  });
  const docs = memo(() => docsPage(document()));
  app.openapi(docsRoute, (c) => {
    const { q = "" } = c.req.valid("query");
    const { html, headers } = q.trim() === "" ? docs() : docsPage(document(), q);
    return c.body(html, 200, headers);
  });
}

function memo<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => made ??= make();
}
