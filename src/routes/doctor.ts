// The doctor: every promise that the rows can tell about, and what an operator wants to know.
import { createRoute } from "@hono/zod-openapi";
import { DoctorReport } from "../contract/doctor.ts";
import { answers, rights } from "./answer.ts";
import type { Access, App } from "./deps.ts";

/** `examine` looks at everything in one snapshot. */
export function doctorRoutes(app: App, deps: Access & { readonly examine: () => Promise<DoctorReport> }): void {
  const doctorRoute = createRoute({
    method: "get",
    path: "/v1/system/doctor",
    tags: ["System"],
    summary: "Check the system's invariants and conditions",
    description:
      "Reads only. All checks see one moment. Requests that arrive while a visit is under way hear its report.",
    ...rights(deps, "SystemRead"),
    responses: answers(DoctorReport, "What each check found"),
  });
  app.openapi(doctorRoute, async (c) => c.json(await deps.examine(), 200));
}
