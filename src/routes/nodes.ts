// Defines the routes for one window of the list of nodes, and for the summary of the fleet. With windows, a screen can
// show a list of any length.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listNodeWindow, NODE_SORTS, summarizeFleet } from "../../actors/cn-window/reads.ts";
import { wholeNumber } from "../contract/common.ts";
import { CN_ROLES, CN_STATES } from "../contract/enums.ts";
import { LabelQuery } from "../contract/labels.ts";
import { SEARCH_CHARS_MAX, WINDOW_OFFSET_MAX, WINDOW_ROWS_DEFAULT, WINDOW_ROWS_MAX } from "../contract/limits.ts";
import { FleetSummary, NodeWindow } from "../contract/node-window.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

const tags = ["Nodes"];
const SORTS = NODE_SORTS.flatMap((name) => [name, `-${name}`] as const);

export function nodeRoutes(app: App, deps: Reads): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/nodes",
    tags,
    summary: "Search and sort the compute nodes",
    description:
      "Returns a window of the list, and the number of all nodes that match. Rows without a value for the sort come " +
      "last. For all rows of a list, use `GET /v1/system/cns`.",
    ...rights(deps, "SystemRead"),
    request: {
      query: z.object({
        q: z.string().max(SEARCH_CHARS_MAX).optional().describe("A part of the hostname, serial, UUID, address or MAC"),
        state: z.enum(CN_STATES).optional(),
        role: z.enum(CN_ROLES).optional(),
        live: z.enum(["true", "false"]).optional(),
        label: LabelQuery,
        sort: z.enum(SORTS).optional().describe(
          "The field to sort by. Default: hostname. A minus before the field sorts in descending order",
        ),
        offset: wholeNumber(0, WINDOW_OFFSET_MAX).optional(),
        limit: wholeNumber(1, WINDOW_ROWS_MAX).optional().describe(`Default ${WINDOW_ROWS_DEFAULT}`),
      }),
    },
    responses: answers(NodeWindow, "The window"),
  });
  app.openapi(listRoute, async (c) => {
    const { sort = "hostname", offset = 0, limit = WINDOW_ROWS_DEFAULT, live, label, ...filter } = c.req.valid("query");
    const descending = sort.startsWith("-");
    const column = NODE_SORTS.find((each) => each === sort.replace("-", "")) ?? "hostname";
    const isLive = live === undefined ? {} : { live: live === "true" };
    const window = { ...filter, ...isLive, labels: label, sort: column, descending, offset, limit };
    return c.json(await listNodeWindow(deps.kysely, window), 200);
  });

  const summaryRoute = createRoute({
    method: "get",
    path: "/v1/system/summary",
    tags,
    summary: "Show the fleet in numbers",
    ...rights(deps, "SystemRead"),
    responses: answers(FleetSummary, "The numbers"),
  });
  app.openapi(summaryRoute, async (c) => c.json(await summarizeFleet(deps.kysely), 200));
}
