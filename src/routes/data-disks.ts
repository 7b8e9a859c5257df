// Defines the routes that create, attach, detach and delete data disks (docs/instances.md, "Data disks").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findDisk } from "../../actors/instance/reads.ts";
import type { DiskPlan, InstanceMessage } from "../../actors/instance/messages.ts";
import { scopeOf } from "../auth/authorize.ts";
import type { Action } from "../auth/policy.ts";
import type { Principal } from "../auth/principal.ts";
import { atRow, inInstance, type ResourceScope } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Disk, DiskBody } from "../contract/instance.ts";
import { DATA_DISKS_MAX, DISK_BYTES_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { imageToUse } from "../services/new-instance.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, Ctx, IdempotencyClaim, Operates, RouteDeps } from "./deps.ts";
import { DISK_SIZE } from "./disks.ts";
import { ACCEPTED, type Ended, operate, PREFER } from "./operation-answer.ts";

export type Deps = Operates & Pick<RouteDeps, "mint">;

const tags = ["Instances"];
const path = "/v1/disks/{disk_id}";
const params = z.object({ disk_id: Uuid });
const atDisk = atRow("disk", "disk_id");

type Doing = {
  readonly verb: "attach" | "detach";
  readonly action: Action;
  readonly summary: string;
  readonly description: string;
};
const DOINGS: readonly Doing[] = [
  {
    verb: "attach",
    action: "DiskAttach",
    summary: "Attach a data disk to its instance",
    description: "A running guest gets the disk at once. 409 if the disk is already attached.",
  },
  {
    verb: "detach",
    action: "DiskDetach",
    summary: "Detach a data disk from its instance",
    description:
      "Takes the disk from a running guest at once, so unmount the disk in the guest first. The disk keeps its data, " +
      "stays on its node and still counts for the quota.",
  },
];

type OnDisk = Extract<InstanceMessage, { type: "attach_disk" | "detach_disk" | "delete_disk" }>;

export function dataDiskRoutes(app: App, deps: Deps): void {
  const createDiskRoute = createRoute({
    method: "post",
    path: "/v1/disks",
    tags,
    summary: "Create a data disk and attach it",
    description: `The disk is empty, or a copy of the snapshot or the image that the body names. ` +
      `Needs a running or stopped instance; a running guest gets the disk at once. An instance has at most ` +
      `${DATA_DISKS_MAX} data disks. The guest finds the disk by its serial number, which is the disk's UUID. Waits ` +
      "for the node; after a failure the disk does not exist, and 502 OperationFailed has the reason.",
    ...rights(deps, "DiskCreate", inInstance),
    request: { query: z.object({ instance: Uuid }), headers: PREFER, body: jsonBody(DiskBody) },
    responses: { ...answersCreated(Disk, "The disk"), ...ACCEPTED },
  });
  app.openapi(createDiskRoute, async (c) => {
    const body = c.req.valid("json");
    const broken = brokenRule(body);
    if (broken !== null) return faultResponse(c, broken);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const quota_defaults = await deps.settings.quotaDefaults();
    const place = scopeOf(c);
    const principal = c.get("principal");
    const ended = await run(c, deps, {
      instance_id: c.req.valid("query").instance,
      idempotency,
      what: "create",
      message: async (begins) => {
        const disk = await diskPlan(deps, body, { id: idempotency.id, place, principal });
        return isFault(disk) ? disk : { type: "create_disk", disk, quota_defaults, ...begins };
      },
    });
    switch (ended.ended) {
      case "accepted":
        return ended.answer;
      case "refused":
        return faultResponse(c, ended.fault);
      case "succeeded":
        return c.json(await nowOrThen(deps, idempotency, ended.output), 201);
    }
  });

  for (const doing of DOINGS) actionRoute(app, deps, doing);

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a detached data disk with its data",
    description: "409 while the disk is attached. The boot disk is deleted only with its instance.",
    ...rights(deps, "DiskDelete", atDisk),
    request: { params, headers: PREFER },
    responses: { ...answersNothing("Deleted"), ...ACCEPTED },
  });
  app.openapi(deleteRoute, async (c) => {
    const ended = await change(c, deps, { disk_id: c.req.valid("param").disk_id, type: "delete_disk", what: "delete" });
    if (isFault(ended)) return faultResponse(c, ended);
    if (ended.ended === "accepted") return ended.answer;
    return ended.ended === "refused" ? faultResponse(c, ended.fault) : c.body(null, 204);
  });
}

function actionRoute(app: App, deps: Deps, { verb, action, summary, description }: Doing): void {
  const route = createRoute({
    method: "post",
    path: `${path}/${verb}`,
    tags,
    summary,
    description: `${description} Waits for the node. 502 OperationFailed has the reason of a failure.`,
    ...rights(deps, action, atDisk),
    request: { params, headers: PREFER },
    responses: { ...answers(Disk, "The disk"), ...ACCEPTED },
  });
  app.openapi(route, async (c) => {
    const { disk_id } = c.req.valid("param");
    const ended = await change(c, deps, { disk_id, type: `${verb}_disk`, what: verb });
    if (isFault(ended)) return faultResponse(c, ended);
    switch (ended.ended) {
      case "accepted":
        return ended.answer;
      case "refused":
        return faultResponse(c, ended.fault);
      case "succeeded":
        return c.json(await nowOrThen(deps, { id: disk_id, repeated: ended.repeated }, ended.output), 200);
    }
  });
}

/** Returns the 400 for a body that is not allowed; null if the body is allowed. */
function brokenRule({ size_bytes, snapshot_id, image_id }: DiskBody): Fault | null {
  if (snapshot_id && image_id) return badRequest("set snapshot_id or image_id, not both");
  if (!snapshot_id && !image_id && typeof size_bytes !== "number") {
    return badRequest("size_bytes is required for an empty disk");
  }
  const is_wrong = typeof size_bytes === "number" && (size_bytes === 0 || size_bytes > DISK_BYTES_MAX);
  return is_wrong ? DISK_SIZE : null;
}

type Place = Parameters<typeof imageToUse>[1]["place"];
type Asking = { readonly id: string; readonly place: ResourceScope; readonly principal: Principal };

/** Returns the disk to create, or a Fault: 404 if the image is missing or may not be used. */
async function diskPlan(deps: Deps, body: DiskBody, { id, place, principal }: Asking): Promise<DiskPlan | Fault> {
  const { name, description, labels, size_bytes = null, snapshot_id = null, image_id = null } = body;
  if (image_id === null) return { id, name, description, labels, size_bytes, snapshot_id };
  const image = await imageToUse(deps, { image_id, place: place as Place, principal });
  if (image === null) return NOT_FOUND;
  const image_bytes = image.content_bytes ?? image.size_bytes;
  if (image_bytes > DISK_BYTES_MAX) return DISK_SIZE;
  if (size_bytes !== null && size_bytes < image_bytes) {
    return badRequest(`size_bytes must be at least the ${image_bytes} bytes of the image`);
  }
  return { id, name, description, labels, size_bytes: size_bytes ?? image_bytes, image_id: image.id };
}

type Change = { readonly disk_id: string; readonly type: OnDisk["type"]; readonly what: string };

/** Starts an operation on an existing disk and waits for its end. Returns a Fault if the disk does not exist. */
async function change(c: Ctx, deps: Deps, { disk_id, type, what }: Change) {
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return idempotency;
  const { repeated } = idempotency;
  const disk = await findDisk(deps.kysely, disk_id);
  // A repeated request gets the answer of the first request, even after its disk was deleted.
  if (disk === undefined && !repeated) return NOT_FOUND;
  const message = (begins: Begins) => Promise.resolve<OnDisk>({ type, disk_id, ...begins });
  const ended = await run(c, deps, { instance_id: disk?.instance_id ?? disk_id, idempotency, what, message });
  return { ...ended, repeated };
}

export type Begins = { readonly operation_id: string; readonly limit_ms: number };
type Run = {
  readonly instance_id: string;
  readonly idempotency: IdempotencyClaim;
  readonly what: string;
  readonly message: (begins: Begins) => Promise<InstanceMessage | Fault>;
};

/** Sends the message that starts an operation of an instance, and waits for the operation's end. */
export async function run(c: Ctx, deps: Deps, { instance_id, idempotency, what, message }: Run): Promise<Ended> {
  const operation_id = deps.mint.idFrom(idempotency.id, "operation");
  const limit_ms = await deps.settings.instanceWaitS() * 1_000;
  return await operate(c, deps, {
    to: { kind: "instance", id: instance_id },
    message: () => message({ operation_id, limit_ms }),
    idempotency,
    operation_id,
    failure: { what, error_code: "OperationFailed" },
  });
}

/** Returns the current disk. If the request is repeated, or if the disk was deleted, returns the operation's result. */
async function nowOrThen(
  deps: Deps,
  { id, repeated }: Pick<IdempotencyClaim, "id" | "repeated">,
  output: unknown,
): Promise<Disk> {
  const { disk: then } = output as { disk: Disk };
  return repeated ? then : await findDisk(deps.byKey, id) ?? then;
}
