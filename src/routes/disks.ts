// Defines the routes for instances' disks (docs/instances.md, "Disks").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import type { Outcome } from "../../actors/engine/types.ts";
import { findDisk, listDisks, listProjectDisks } from "../../actors/instance/reads.ts";
import { atRow, ofDisks } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { badRequest, isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { Disk, DiskResizeBody, DiskResized } from "../contract/instance.ts";
import { DISK_BYTES_MAX, NODE_WAIT_MS } from "../contract/limits.ts";
import { LabeledPatch } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import type { App, Ctx, ReplyOf, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "mint" | "settings">;

const tags = ["Instances"];
const path = "/v1/disks/{disk_id}";
const params = z.object({ disk_id: Uuid });
const atDisk = atRow("disk", "disk_id");
/** 400: the size of a disk is not allowed. */
export const DISK_SIZE = badRequest("size_bytes must be greater than zero and at most 16 TiB");

export function diskRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/disks",
    tags,
    summary: "List the disks of an instance or a project",
    description:
      "Requires `instance`, or `tenant` and `project`. The list of an instance's disks begins with the boot disk and " +
      "has no pages. The list of a project's disks has pages and is ordered by id.",
    ...rights(deps, "DiskList", ofDisks),
    request: {
      query: z.object({
        instance: Uuid.optional(),
        tenant: Uuid.optional(),
        project: Uuid.optional(),
        label: LabelQuery,
        ...PageQuery,
      }),
    },
    responses: answers(page(Disk), "The disks"),
  });
  app.openapi(listRoute, async (c) => {
    const { instance, tenant: tenant_id, project: project_id, label: labels, ...query } = c.req.valid("query");
    if (instance !== undefined) return c.json({ items: await listDisks(deps.kysely, instance, labels) }, 200);
    const of = { tenant_id, project_id, labels };
    const result = await pageById(query, (at) => listProjectDisks(deps.kysely, { ...of, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a disk",
    ...rights(deps, "DiskGet", atDisk),
    request: { params },
    responses: answers(Disk, "The disk"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findDisk(deps.byKey, c.req.valid("param").disk_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename, describe or label a disk",
    description: "The guest and the node do not use the name, so the request works in every state of the instance.",
    ...rights(deps, "DiskUpdate", atDisk),
    request: { params, body: jsonBody(LabeledPatch) },
    responses: answers(Disk, "The disk"),
  });
  app.openapi(updateRoute, async (c) => {
    const { disk_id } = c.req.valid("param");
    const changed = { type: "update_disk", disk_id, patch: c.req.valid("json") } as const;
    const outcome = await updateDisk(c, deps, await findDisk(deps.kysely, disk_id), changed);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const resizeRoute = createRoute({
    method: "post",
    path: `${path}/resize`,
    tags,
    summary: "Grow a disk",
    description:
      "Changes the record at once and starts the operation disk-resize on the node without waiting for it. " +
      "`applied_bytes` is the size that the node last reported. On a node with QEMU a running guest sees the new " +
      "size without a reboot. `reboot_required` is true for every running instance. 409 while an earlier resize of " +
      "the disk is running.",
    ...rights(deps, "DiskResize", atDisk),
    request: { params, body: jsonBody(DiskResizeBody) },
    responses: answers(DiskResized, "The disk"),
  });
  app.openapi(resizeRoute, async (c) => {
    const { disk_id } = c.req.valid("param");
    const { size_bytes } = c.req.valid("json");
    if (size_bytes === 0 || size_bytes > DISK_BYTES_MAX) return faultResponse(c, DISK_SIZE);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    // If the disk does not exist, the message goes to an instance with the disk's id, which does not exist either. The
    // outcome is 404. A repeated request gets the reply of the first request.
    const instance_id = (await findDisk(deps.kysely, disk_id))?.instance_id ?? disk_id;
    const outcome = await deps.send(c, { kind: "instance", id: instance_id }, {
      type: "resize_disk",
      disk_id,
      size_bytes,
      operation_id: deps.mint.idFrom(idempotency.id, "operation"),
      limit_ms: NODE_WAIT_MS,
      quota_defaults: await deps.settings.quotaDefaults(),
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}

type Update = "update_disk" | "update_snapshot";
type Changed<T extends Update> = { readonly type: T; readonly disk_id: string; readonly patch: LabeledPatch };

/** Sends the body of a PATCH to the instance of a disk or a snapshot. */
export async function updateDisk<T extends Update>(
  c: Ctx,
  deps: Pick<Deps, "idempotency" | "send">,
  found: Pick<Disk, "instance_id"> | undefined,
  { patch, ...changed }: Changed<T>,
): Promise<Outcome<ReplyOf<"instance", T>>> {
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return { ok: false, fault: idempotency } as const;
  // A repeated request gets the answer of the first request, even after its disk was deleted.
  if (found === undefined && !idempotency.repeated) return { ok: false, fault: NOT_FOUND } as const;
  const { name = null, description = null, labels = null } = patch;
  const to = { kind: "instance" as const, id: found?.instance_id ?? changed.disk_id };
  return await deps.send(c, to, { ...changed, name, description, labels }, idempotency);
}
