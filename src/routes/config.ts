// Defines the routes for cluster settings.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { badRequest, type Fault, NOT_FOUND } from "../contract/fault.ts";
import { isSettingKey, type SettingKey, SETTINGS } from "../contract/settings.ts";
import { SettingBody, SettingView } from "../contract/setting.ts";
import { faultResponse } from "../http/fault-status.ts";
import { schemaRefusal } from "../http/zod-message.ts";
import { parseOpensshKey } from "../lib/crypto/openssh-key.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "settings">;

const tags = ["Settings"];
const KeyParam = z.object({ key: z.string().max(128) });

export function configRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/config",
    tags,
    summary: "List the cluster settings",
    ...rights(deps, "ConfigGet"),
    responses: answers(z.array(SettingView), "Every setting with its effective value"),
  });
  app.openapi(listRoute, async (c) => c.json(await deps.settings.list(), 200));

  const showRoute = createRoute({
    method: "get",
    path: "/v1/config/{key}",
    tags,
    summary: "Show one cluster setting",
    ...rights(deps, "ConfigGet"),
    request: { params: KeyParam },
    responses: answers(SettingView, "The setting"),
  });
  app.openapi(showRoute, async (c) => {
    const { key } = c.req.valid("param");
    return isSettingKey(key) ? c.json(await deps.settings.get(key), 200) : faultResponse(c, NOT_FOUND);
  });

  const setRoute = createRoute({
    method: "put",
    path: "/v1/config/{key}",
    tags,
    summary: "Set one cluster setting",
    ...rights(deps, "ConfigSet"),
    request: { params: KeyParam, body: jsonBody(SettingBody) },
    responses: answers(SettingView, "The setting in force"),
  });
  app.openapi(setRoute, async (c) => {
    const { key } = c.req.valid("param");
    if (!isSettingKey(key)) return faultResponse(c, NOT_FOUND);
    const { value } = c.req.valid("json");
    const refusal = valueRefusal(key, value);
    if (refusal !== null) return faultResponse(c, refusal);
    const outcome = await deps.sendOnce(c, { kind: "setting", id: key }, { type: "set", key, value });
    return outcome.ok ? c.json(await deps.settings.get(key), 200) : faultResponse(c, outcome.fault);
  });

  const resetRoute = createRoute({
    method: "delete",
    path: "/v1/config/{key}",
    tags,
    summary: "Set one cluster setting back to its default",
    ...rights(deps, "ConfigReset"),
    request: { params: KeyParam },
    responses: answers(SettingView, "The setting in force"),
  });
  app.openapi(resetRoute, async (c) => {
    const { key } = c.req.valid("param");
    if (!isSettingKey(key)) return faultResponse(c, NOT_FOUND);
    const outcome = await deps.sendOnce(c, { kind: "setting", id: key }, { type: "unset" });
    return outcome.ok ? c.json(await deps.settings.get(key), 200) : faultResponse(c, outcome.fault);
  });
}

function valueRefusal(key: SettingKey, value: unknown): Fault | null {
  const checked = SETTINGS[key].schema.safeParse(value);
  if (checked.success) return key === "cn.root_authorized_keys" ? keysRefusal(checked.data as string[]) : null;
  return badRequest(schemaRefusal("value", checked.error.issues).message);
}

/** Returns the 400 for a key that parseOpensshKey refuses, or null. The schema checks only the form of the text. */
function keysRefusal(keys: readonly string[]): Fault | null {
  for (const [index, key] of keys.entries()) {
    const parsed = parseOpensshKey(key);
    if ("error" in parsed) return badRequest(`value.${index}: invalid openssh public key: ${parsed.error}`);
  }
  return null;
}
