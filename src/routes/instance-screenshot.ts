// Defines the route for the screen of an instance (docs/instances.md, "Screenshot").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { conflict, fault, isFault } from "../contract/fault.ts";
import { CONSOLE_DIAL_S, SCREENSHOT_BYTES_MAX, SCREENSHOT_CONSOLES, SCREENSHOT_S_MAX } from "../contract/limits.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { faultResponse } from "../http/fault-status.ts";
import { isPng } from "../lib/console/png.ts";
import { consoleInstance, readWhole } from "../services/console-open.ts";
import { refuses, rights } from "./answer.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";

type Deps = Reads & Pick<RouteDeps, "consoles" | "consoleShares" | "newId" | "relay_url" | "send">;

const ANSWER = {
  200: { description: "The screen", content: { "image/png": { schema: z.string().meta({ format: "binary" }) } } },
} as const;
const NO_PICTURE = fault("node_failed", "the node sent no picture: its agent is too old. Ask the operator", {
  error_code: "OperationFailed",
});

export function instanceScreenshotRoutes(app: App, deps: Deps): void {
  const screenshotRoute = createRoute({
    method: "get",
    path: "/v1/instances/{instance_id}/screenshot",
    tags: ["Instances"],
    summary: "Take a screenshot of an instance",
    description:
      "The screen of the virtual graphics card as PNG, at most 8 MiB. The node takes the screenshot for this " +
      "request, and the server does not store it. 409 unless the instance runs; 502 if the node does not answer.",
    ...rights(deps, "InstanceScreenshot", atRow("instance", "instance_id")),
    ...refuses(409, 502),
    request: { params: z.object({ instance_id: Uuid }) },
    responses: { ...ANSWER, ...ERROR_RESPONSES },
  });
  app.openapi(screenshotRoute, async (c) => {
    const instance = await consoleInstance(deps, c.req.valid("param").instance_id);
    if (isFault(instance)) return faultResponse(c, instance);
    if (instance.state !== "running") {
      return faultResponse(c, conflict(`${instance.name} is ${instance.state}; a screenshot needs a running instance`));
    }
    const found = await readWhole(c, deps, {
      instance,
      mode: "screenshot",
      bytes_max: SCREENSHOT_BYTES_MAX,
      weight: SCREENSHOT_CONSOLES,
      limit_ms: (CONSOLE_DIAL_S + SCREENSHOT_S_MAX) * 1_000,
    });
    if (isFault(found)) return faultResponse(c, found);
    if (!isPng(found)) return faultResponse(c, NO_PICTURE);
    return c.body(found, 200, { "content-type": "image/png", "cache-control": "no-store" }) as never;
  });
}
