// Defines the routes for usage of projects over time (docs/tenancy.md, "Usage by day").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import {
  isClosed,
  listProjectTotals,
  pageProjectTotals,
  readProjectUsage,
  usageRange,
} from "../../actors/project/reads.ts";
import { atProject } from "../auth/resource-scope.ts";
import { PageQuery, Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { USAGE_KEPT_DAYS, USAGE_RANGE_DAYS_MAX } from "../contract/limits.ts";
import { ProjectUsage, SiteUsage, UsageQuery } from "../contract/usage.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import type { IdPage } from "../lib/ids/page-token.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

const tags = ["Tenancy"];
const ABOUT =
  "vCPUs and memory count while an instance is running or stopping. Disks and floating IPs count as long as they " +
  "exist. A day begins at 0:00 UTC. At the earliest an hour after its end it is closed: its amounts no longer change. A request covers at most " +
  `${USAGE_RANGE_DAYS_MAX} days; closed days are kept for ${USAGE_KEPT_DAYS} days. Nodes with the simulated driver ` +
  "report no traffic.";

export function usageRoutes(app: App, deps: Reads): void {
  const projectRoute = createRoute({
    method: "get",
    path: "/v1/tenants/{tenant_id}/projects/{project_id}/usage/days",
    tags,
    summary: "Show the usage of a project by day",
    description: ABOUT,
    ...rights(deps, "UsageGet", atProject),
    request: { params: z.object({ tenant_id: Uuid, project_id: Uuid }), query: UsageQuery },
    responses: answers(ProjectUsage, "The days with usage, oldest first, and their sum"),
  });
  app.openapi(projectRoute, async (c) => {
    const range = await usageRange(deps.kysely, c.req.valid("query"));
    if (isFault(range)) return faultResponse(c, range);
    return c.json(await readProjectUsage(deps.kysely, c.req.valid("param").project_id, range), 200);
  });

  const siteRoute = createRoute({
    method: "get",
    path: "/v1/system/usage",
    tags,
    summary: "Show the usage of each project of all tenants",
    description:
      "The answer has the sum of the days for each project, including deleted projects. Without `limit`, the projects " +
      `are in the order of their names; with \`limit\`, in the order of their ids. ${ABOUT}`,
    ...rights(deps, "SystemRead"),
    request: { query: UsageQuery.extend(PageQuery) },
    responses: answers(SiteUsage, "The projects with usage"),
  });
  app.openapi(siteRoute, async (c) => {
    const { limit, page_token, ...asked } = c.req.valid("query");
    const range = await usageRange(deps.kysely, asked);
    if (isFault(range)) return faultResponse(c, range);
    const closed = await isClosed(deps.kysely, range.to);
    const read = async (at: IdPage) => {
      const found = limit === undefined && page_token === undefined
        ? await listProjectTotals(deps.kysely, range, at.rows)
        : await pageProjectTotals(deps.kysely, range, { rows: at.rows, after: at.after ?? null });
      return found.map((total) => ({ id: total.project_id, total }));
    };
    const result = await pageById({ limit, page_token }, read);
    if (!result.ok) return faultResponse(c, result.fault);
    const { items, next_page } = result.page;
    return c.json(
      { ...range, closed, projects: items.map(({ total }) => total), ...(next_page && { next_page }) },
      200,
    );
  });
}
