// Makes an image from a snapshot (docs/instances.md, "Images from snapshots").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findImage, isImageName } from "../../actors/image/reads.ts";
import { madeImageView } from "../../actors/image/view.ts";
import type { MadeImage } from "../../actors/image-upload/state.ts";
import { findImageOfUpload } from "../../actors/image-upload/reads.ts";
import { findInstance, findSnapshot } from "../../actors/instance/reads.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { conflict, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Image } from "../contract/image.ts";
import { SnapshotImageBody } from "../contract/image-upload.ts";
import { faultResponse } from "../http/fault-status.ts";
import { NO_STORE } from "../services/upload-parts.ts";
import { answersCreated, jsonBody, rights } from "./answer.ts";
import { type Deps as OfDisks, run } from "./data-disks.ts";
import type { App, RouteDeps } from "./deps.ts";
import { ACCEPTED, PREFER } from "./operation-answer.ts";

type Deps = OfDisks & Pick<RouteDeps, "imageStore">;

const params = z.object({ snapshot_id: Uuid });

export function snapshotImageRoutes(app: App, deps: Deps): void {
  const createRouteOf = createRoute({
    method: "post",
    path: "/v1/snapshots/{snapshot_id}/image",
    tags: ["Images"],
    summary: "Make an image from a snapshot",
    description:
      "The image belongs to the project of the snapshot, and is independent of the snapshot and of its instance. The " +
      "node sends the content to the site's store of images, and the server computes the digest. The instance must " +
      "be running or stopped, and no other operation may change it. The image counts towards " +
      "`image.uploaded_bytes_max`. Waits for the node; after a failure the image does not exist, and 502 " +
      "OperationFailed has the reason. 409 if the project has an image of that name, or the site stores no images.",
    ...rights(deps, "ImageFromSnapshot", atRow("disk", "snapshot_id")),
    request: { params, headers: PREFER, body: jsonBody(SnapshotImageBody) },
    responses: { ...answersCreated(Image, "The image"), ...ACCEPTED },
  });
  app.openapi(createRouteOf, async (c) => {
    if (deps.imageStore === null) return faultResponse(c, NO_STORE);
    const { snapshot_id } = c.req.valid("param");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const snapshot = await findSnapshot(deps.kysely, snapshot_id);
    // A repeated request gets the answer of the first request, even after the snapshot was deleted.
    if (snapshot === undefined && !idempotency.repeated) return faultResponse(c, NOT_FOUND);
    const upload_id = deps.mint.idFrom(idempotency.id, "image-upload");
    const ended = await run(c, deps, {
      instance_id: snapshot?.instance_id ?? snapshot_id,
      idempotency,
      what: "create",
      message: async (begins) => {
        const image = snapshot === undefined ? NOT_FOUND : await planned(snapshot, c.req.valid("json"));
        return isFault(image) ? image : { type: "create_image", snapshot_id, upload_id, image, ...begins };
      },
    });
    if (ended.ended === "accepted") return ended.answer;
    if (ended.ended === "refused") return faultResponse(c, ended.fault);
    const output = ended.output as { readonly image: MadeImage | null } | null;
    const image = output?.image ? madeImageView(output.image) : await imageOfUpload(upload_id);
    return image === undefined ? faultResponse(c, NOT_FOUND) : c.json(image, 201);
  });

  /**
   * Finds the image of an operation that a process of an earlier release ended. The output of such an operation has no
   * image.
   */
  async function imageOfUpload(upload_id: string): Promise<Image | undefined> {
    const image_id = await findImageOfUpload(deps.kysely, upload_id);
    return image_id === undefined ? undefined : await findImage(deps.kysely, image_id);
  }

  type Source = { readonly instance_id: string; readonly project_id: string };

  /** Returns the properties of the image. The requirements for the machine are the same as in the instance's image. */
  async function planned(
    { instance_id, project_id }: Source,
    { os, version, ...named }: z.output<typeof SnapshotImageBody>,
  ) {
    // The commit checks the name again. This earlier check saves the node unnecessary work.
    if (await isImageName(deps.kysely, { project_id, name: named.name })) {
      return conflict(`an image named ${named.name} already exists in this scope`) satisfies Fault;
    }
    const instance = await findInstance(deps.byKey, instance_id);
    const image = instance && await findImage(deps.byKey, instance.image_id);
    if (image === undefined) return NOT_FOUND;
    return {
      ...named,
      os: os ?? image.os,
      os_version: version ?? image.version,
      compatibility: image.compatibility,
    };
  }
}
