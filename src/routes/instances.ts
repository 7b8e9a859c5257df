// Defines the routes with which members of a tenant manage the instances of a project (docs/instances.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findInstance, findInstanceShown, listInstances } from "../../actors/instance/reads.ts";
import { callerOf, scopeOf } from "../auth/authorize.ts";
import { atRow, inProject, ofInstances } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { INSTANCE_STATES, type InstanceState } from "../contract/enums.ts";
import { CAPACITY_EXHAUSTED, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Instance, InstanceBody, InstancePatch, InstanceShown } from "../contract/instance.ts";
import { LabelQuery } from "../contract/labels.ts";
import { PLACEMENT_TRIES_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Operates, Reads, RouteDeps } from "./deps.ts";
import { brokenRule, brokenSize, newInstance } from "../services/new-instance.ts";
import { ACCEPTED, operate, PREFER } from "./operation-answer.ts";

type Deps = Operates & Pick<RouteDeps, "mint" | "nodesToPlace">;

const tags = ["Instances"];
const path = "/v1/instances/{instance_id}";
const params = z.object({ instance_id: Uuid });
const ofProject = z.object({ tenant: Uuid, project: Uuid });
const atInstance = atRow("instance", "instance_id");

/** A filter by state. States are not case-sensitive; unknown states are refused. */
export const StateQuery = z.preprocess(
  (text) => typeof text === "string" ? text.toLowerCase() : text,
  z.enum(INSTANCE_STATES),
).optional().describe("pending, provisioning, running, stopping, stopped or failed; not case-sensitive");

export function instanceRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/instances",
    tags,
    summary: "List instances",
    description:
      "Requires `image`, or `cn`, or both `tenant` and `project`. Each further parameter narrows the list. Members " +
      "of a tenant see only the tenant's instances.",
    ...rights(deps, "InstanceList", ofInstances),
    request: {
      query: z.object({
        image: Uuid.optional(),
        cn: Uuid.optional(),
        tenant: Uuid.optional(),
        project: Uuid.optional(),
        state: StateQuery,
        label: LabelQuery,
        ...PageQuery,
      }),
    },
    responses: answers(page(Instance), "The instances, oldest first"),
  });
  app.openapi(listRoute, async (c) => {
    const { image, cn, tenant, project, state, label, ...query } = c.req.valid("query");
    const own = callerOf(c).is_root ? undefined : callerOf(c).tenant_id ?? undefined;
    if (own !== undefined && tenant !== undefined && tenant !== own) return c.json({ items: [] }, 200);
    const filter = {
      image_id: image,
      cn,
      tenant_id: own ?? tenant,
      project_id: project,
      state: state as InstanceState | undefined,
      labels: label,
    };
    const result = await pageById(query, (at) => listInstances(deps.kysely, { ...filter, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createInstanceRoute = createRoute({
    method: "post",
    path: "/v1/instances",
    tags,
    summary: "Create an instance",
    description:
      "Waits until the node has provisioned the instance, at most `instance.create_wait_secs` (600 s), and returns " +
      "the instance. After a failure everything is rolled back, and 502 ProvisionFailed has the reason. 503 when no " +
      "node can take the instance. The operation instance-create continues when the caller disconnects.",
    ...rights(deps, "InstanceCreate", inProject),
    request: { query: ofProject, headers: PREFER, body: jsonBody(InstanceBody) },
    responses: { ...answersCreated(Instance, "The instance"), ...ACCEPTED },
  });
  app.openapi(createInstanceRoute, async (c) => {
    const body = c.req.valid("json");
    const broken = brokenRule(body);
    if (broken !== null) return faultResponse(c, broken);
    const { silo_id, tenant_id, project_id } = scopeOf(c);
    if (tenant_id === null || project_id === null) return faultResponse(c, NOT_FOUND);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const place = { silo_id, tenant_id, project_id };
    const ended = await operate(c, deps, {
      to: { kind: "instance", id: idempotency.id },
      message: (tries) =>
        newInstance(deps, { body, place, principal: c.get("principal"), id: idempotency.id, operation_id, tries }),
      again: { tries_max: PLACEMENT_TRIES_MAX, isStale: filledUp },
      idempotency,
      operation_id,
      failure: { what: "provisioning", error_code: "ProvisionFailed" },
    });
    switch (ended.ended) {
      case "accepted":
        return ended.answer;
      case "refused":
        return faultResponse(c, ended.fault);
      case "succeeded":
        return c.json(
          await nowOrThen(deps, { id: idempotency.id, repeated: idempotency.repeated, output: ended.output }),
          201,
        );
    }
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show an instance",
    ...rights(deps, "InstanceGet", atInstance),
    request: { params },
    responses: answers(InstanceShown, "The instance"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findInstanceShown(deps.byKey, c.req.valid("param").instance_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Change an instance",
    description:
      "Changes the name, description, labels, protection against deletion, vCPUs and memory. Missing fields stay " +
      "unchanged. A new number of vCPUs or memory size needs a stopped instance (409), quota, and free capacity on " +
      "its node (409); the next start applies it. More vCPUs than the node has logical processors get 409. `labels` " +
      "contains the labels to set; a label with the value null is removed. The protection cannot be " +
      "set while the instance is being deleted or rebuilt (409).",
    ...rights(deps, "InstanceUpdate", atInstance),
    request: { params, body: jsonBody(InstancePatch) },
    responses: answers(Instance, "The instance"),
  });
  app.openapi(updateRoute, async (c) => {
    const body = c.req.valid("json");
    const { quota_defaults, memory_bytes_min } = await deps.settings.instanceCreation();
    const broken = brokenSize(body, memory_bytes_min);
    if (broken !== null) return faultResponse(c, broken);
    const to = { kind: "instance" as const, id: c.req.valid("param").instance_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: body.name ?? null,
      description: body.description ?? null,
      labels: body.labels ?? null,
      deletion_protection: body.deletion_protection ?? null,
      cpu: body.cpu ?? null,
      memory_bytes: body.memory_bytes ?? null,
      quota_defaults,
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const written = outcome.reply;
    // The reply does not show whether the instance's node is live, so a separate query reads it.
    const host_live = (await findInstance(deps.byKey, to.id))?.host_live ?? written.host_live;
    return c.json({ ...written, host_live }, 200);
  });
}

function filledUp({ error_code }: Fault): boolean {
  return error_code === CAPACITY_EXHAUSTED.error_code;
}

/**
 * Returns the current instance. If the request is repeated, or if the instance was deleted, returns the operation's
 * result.
 */
export async function nowOrThen(
  deps: Reads,
  of: { readonly id: string; readonly repeated: boolean; readonly output: unknown },
): Promise<Instance> {
  const { instance: then } = of.output as { instance: Instance };
  if (of.repeated) return { ...then, host_live: true };
  return await deps.findOne(findInstance, of.id) ?? { ...then, host_live: true };
}
