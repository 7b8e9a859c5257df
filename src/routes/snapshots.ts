// Defines the routes for snapshots of disks (docs/instances.md, "Snapshots").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findDisk, findSnapshot, listSnapshots } from "../../actors/instance/reads.ts";
import { atRow, ofDisk, ofDisks } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { SNAPSHOTS_MAX } from "../contract/limits.ts";
import { Snapshot, SnapshotBody } from "../contract/snapshot.ts";
import { LabeledPatch } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import { type Deps, run } from "./data-disks.ts";
import type { App } from "./deps.ts";
import { updateDisk } from "./disks.ts";
import { ACCEPTED, PREFER } from "./operation-answer.ts";

const tags = ["Instances"];
const path = "/v1/snapshots";
const atPath = `${path}/{snapshot_id}`;
const params = z.object({ snapshot_id: Uuid });
const atSnapshot = atRow("disk", "snapshot_id");

export function snapshotRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "List the snapshots of an instance or a project",
    description: "Requires `instance`, or `tenant` and `project`. Ordered by id.",
    ...rights(deps, "SnapshotList", ofDisks),
    request: {
      query: z.object({
        instance: Uuid.optional(),
        tenant: Uuid.optional(),
        project: Uuid.optional(),
        label: LabelQuery,
        ...PageQuery,
      }),
    },
    responses: answers(page(Snapshot), "The snapshots"),
  });
  app.openapi(listRoute, async (c) => {
    const { instance: instance_id, tenant: tenant_id, project: project_id, label: labels, ...query } = c.req.valid(
      "query",
    );
    const of = { ...instance_id === undefined ? { tenant_id, project_id } : { instance_id }, labels };
    const result = await pageById(query, (at) => listSnapshots(deps.kysely, { ...of, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: atPath,
    tags,
    summary: "Show a snapshot",
    ...rights(deps, "SnapshotGet", atSnapshot),
    request: { params },
    responses: answers(Snapshot, "The snapshot"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findSnapshot(deps.byKey, c.req.valid("param").snapshot_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path: atPath,
    tags,
    summary: "Rename, describe or label a snapshot",
    ...rights(deps, "SnapshotUpdate", atSnapshot),
    request: { params, body: jsonBody(LabeledPatch) },
    responses: answers(Snapshot, "The snapshot"),
  });
  app.openapi(updateRoute, async (c) => {
    const { snapshot_id: disk_id } = c.req.valid("param");
    const changed = { type: "update_snapshot", disk_id, patch: c.req.valid("json") } as const;
    const outcome = await updateDisk(c, deps, await findSnapshot(deps.kysely, disk_id), changed);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const createSnapshotRoute = createRoute({
    method: "post",
    path,
    tags,
    summary: "Create a snapshot of a disk",
    description:
      "Copies the disk as it is at one point in time. The instance must be running or stopped. A running guest keeps " +
      "running; its file systems are frozen for a moment if it has the QEMU guest agent. The field `consistency` " +
      "shows how consistent the copy is. The snapshot is on the node of the instance and takes as much of the quota " +
      `as the disk. An instance has at most ${SNAPSHOTS_MAX} snapshots, and cannot migrate while it has one. Restore ` +
      "a snapshot into a new disk with `snapshot_id` in POST /v1/disks. Waits for the node; after a failure the " +
      "snapshot does not exist, and 502 OperationFailed has the reason.",
    ...rights(deps, "SnapshotCreate", ofDisk),
    request: { query: z.object({ disk: Uuid }), headers: PREFER, body: jsonBody(SnapshotBody) },
    responses: { ...answersCreated(Snapshot, "The snapshot"), ...ACCEPTED },
  });
  app.openapi(createSnapshotRoute, async (c) => {
    const { disk: disk_id } = c.req.valid("query");
    const { name, description, labels } = c.req.valid("json");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const disk = await findDisk(deps.kysely, disk_id);
    // A repeated request gets the answer of the first request, even after its disk was deleted.
    if (disk === undefined && !idempotency.repeated) return faultResponse(c, NOT_FOUND);
    const quota_defaults = await deps.settings.quotaDefaults();
    const snapshot = { id: idempotency.id, name, description, labels };
    const ended = await run(c, deps, {
      instance_id: disk?.instance_id ?? disk_id,
      idempotency,
      what: "create",
      message: (begins) => Promise.resolve({ type: "create_snapshot", disk_id, snapshot, quota_defaults, ...begins }),
    });
    switch (ended.ended) {
      case "accepted":
        return ended.answer;
      case "refused":
        return faultResponse(c, ended.fault);
      case "succeeded":
        return c.json((ended.output as { snapshot: Snapshot }).snapshot, 201);
    }
  });

  const deleteRoute = createRoute({
    method: "delete",
    path: atPath,
    tags,
    summary: "Delete a snapshot with its data",
    description: "Disks that were restored from the snapshot keep their data.",
    ...rights(deps, "SnapshotDelete", atSnapshot),
    request: { params, headers: PREFER },
    responses: { ...answersNothing("Deleted"), ...ACCEPTED },
  });
  app.openapi(deleteRoute, async (c) => {
    const { snapshot_id: disk_id } = c.req.valid("param");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const snapshot = await findSnapshot(deps.kysely, disk_id);
    // A repeated request gets the answer of the first request, even after the snapshot was deleted.
    if (snapshot === undefined && !idempotency.repeated) return faultResponse(c, NOT_FOUND);
    const ended = await run(c, deps, {
      instance_id: snapshot?.instance_id ?? disk_id,
      idempotency,
      what: "delete",
      message: (begins) => Promise.resolve({ type: "delete_snapshot", disk_id, ...begins }),
    });
    if (ended.ended === "accepted") return ended.answer;
    return ended.ended === "refused" ? faultResponse(c, ended.fault) : c.body(null, 204);
  });
}
