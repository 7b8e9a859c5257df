// Defines the route for the clock of the dev environment. Without BERTH_LAB=1 the path does not exist.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { Timestamp } from "../contract/common.ts";
import { answers, ASKS, jsonBody, openRights } from "./answer.ts";
import type { Access, App } from "./deps.ts";

/**
 * How far one request can advance the clock: ten years. This is longer than any deadline, and within the range of
 * timestamps.
 */
const AHEAD_S_MAX = 315_360_000;

export function devClockRoutes(app: App, deps: Access, advance: (seconds: number) => Promise<Date>): void {
  const clockRoute = createRoute({
    method: "post",
    path: "/lab/clock",
    tags: ["Development"],
    summary: "Move the clock of deadlines and expiries forward",
    ...openRights(deps, "LabClock"),
    ...ASKS,
    request: { body: jsonBody(z.strictObject({ seconds: z.number().min(0).max(AHEAD_S_MAX) })) },
    responses: answers(z.object({ now: Timestamp }), "The new time"),
  });
  app.openapi(clockRoute, async (c) => {
    const now = await advance(c.req.valid("json").seconds);
    return c.json({ now: now.toISOString() }, 200);
  });
}
