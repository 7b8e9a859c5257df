// Defines the route for the doctor, which checks the invariants and the health of the system.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { DoctorReport } from "../contract/doctor.ts";
import { DOCTOR_SCOPES, type DoctorScope } from "../contract/enums.ts";
import { answers, rights } from "./answer.ts";
import type { Access, App } from "./deps.ts";

/** Adds the doctor's route. `examine` runs all checks on one snapshot. */
export function doctorRoutes(
  app: App,
  deps: Access & { readonly examine: (scope: DoctorScope) => Promise<DoctorReport> },
): void {
  const doctorRoute = createRoute({
    method: "get",
    path: "/v1/system/doctor",
    tags: ["System"],
    summary: "Check the system's invariants and conditions",
    description:
      "Changes nothing. All checks use one snapshot. A request that arrives during a run of the same scope gets the " +
      "report of that run. The scope `all` checks the whole transition log, and takes longer the older the system is.",
    ...rights(deps, "SystemRead"),
    request: { query: z.object({ scope: z.enum(DOCTOR_SCOPES).optional().describe("Default recent") }) },
    responses: answers(DoctorReport, "The results of the checks"),
  });
  app.openapi(doctorRoute, async (c) => c.json(await deps.examine(c.req.valid("query").scope ?? "recent"), 200));
}
