// How the server is: health, readiness, metrics, and its own description.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
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
  /** True when the database answers. */
  readonly ready: () => Promise<boolean>;
  readonly schemas: Readonly<Record<string, z.ZodType>>;
};

/** What a proxy adds. One on this machine that is not among BERTH_TRUSTED_PROXIES would make everybody look near. */
const PROXY_HEADERS = ["x-forwarded-for", "forwarded", "x-real-ip", "via"];
const NOT_READY = fault("unavailable", "the database does not answer", { retry_after_s: 1 });

/** Must be added last: the description lists the routes that are there. */
export function systemRoutes(app: App, deps: SystemDeps): void {
  const healthRoute = createRoute({
    method: "get",
    path: "/v1/health",
    tags,
    summary: "Tell that the server runs",
    ...openRights(deps, "Health"),
    responses: answers(Health, "It runs"),
  });
  app.openapi(healthRoute, (c) => c.json({ status: "ok" as const, version: deps.version }, 200));

  const readyRoute = createRoute({
    method: "get",
    path: "/readyz",
    tags,
    summary: "Tell whether the database answers",
    ...openRights(deps, "Health"),
    responses: answers(z.object({ status: z.literal("ready") }), "Requests can be served"),
  });
  app.openapi(
    readyRoute,
    async (c) => await deps.ready() ? c.json({ status: "ready" as const }, 200) : faultResponse(c, NOT_READY),
  );

  const metricsRights = rights(deps, "MetricsRead");
  const [gate] = metricsRights.middleware;
  const metricsRoute = createRoute({
    method: "get",
    path: "/metrics",
    tags,
    summary: "Metrics of this process, as Prometheus text",
    ...metricsRights,
    "x-rights": `${metricsRights["x-rights"]}; or a caller on the loopback interface`,
    // A scraper beside the server needs no key; one that sends a key is judged by it.
    middleware: [createMiddleware<HttpEnv>(async (c, next) => {
      const others = ["authorization", ...PROXY_HEADERS].some((name) => c.req.header(name) !== undefined);
      const near = isLoopback(c.get("clientAddress")) && !others;
      return near ? await next() : await gate(c, next);
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
    summary: "This API as OpenAPI 3.0.3",
    ...openRights(deps, "ApiDescription"),
    responses: { 200: { description: "The document" } },
  });
  const document = memo(() => openApiDocument(app, { version: deps.version, schemas: deps.schemas }));
  app.openapi(describeRoute, (c) => c.json(document(), 200));

  const docsRoute = createRoute({
    method: "get",
    path: "/docs",
    tags,
    summary: "This API as a page for people",
    ...openRights(deps, "ApiDescription"),
    responses: { 200: { description: "HTML without scripts or outside requests" } },
  });
  const docs = memo(() => docsPage(document()));
  app.openapi(docsRoute, (c) => c.body(docs().html, 200, docs().headers));
}

function memo<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => made ??= make();
}
