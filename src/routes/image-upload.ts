// Defines the routes for uploads of images in parts (docs/instances.md, "Uploaded images").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findImage } from "../../actors/image/reads.ts";
import { madeImageView } from "../../actors/image/view.ts";
import { findImageUpload, findUploadedForNode } from "../../actors/image-upload/reads.ts";
import { imageUploadView } from "../../actors/image-upload/view.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, atTenant } from "../auth/resource-scope.ts";
import { Uuid, wholeNumber } from "../contract/common.ts";
import { type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Image } from "../contract/image.ts";
import { ImageUpload, ImageUploadBody, ImageUploadEndBody } from "../contract/image-upload.ts";
import { IMAGE_PART_BYTES, IMAGE_UPLOAD_BYTES_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { nodeOf } from "../services/calling-node.ts";
import { isBytes, NO_STORE, NOT_BYTES, PartQuery, uploadParts } from "../services/upload-parts.ts";
import { answers, answersCreated, answersNothing, jsonBody, refuses, REPEATABLE, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "imageStore" | "mint" | "settings">;

const tags = ["Images"];
const path = "/v1/image-uploads/{upload_id}";
const params = z.object({ upload_id: Uuid });
const atUpload = atRow("image_upload", "upload_id");

const PART_MAX = Math.ceil(IMAGE_UPLOAD_BYTES_MAX / IMAGE_PART_BYTES);

export function imageUploadRoutes(app: App, deps: Deps): void {
  const parts = deps.imageStore === null ? null : uploadParts(deps, deps.imageStore);

  const beginRoute = createRoute({
    method: "post",
    path: "/v1/tenants/{tenant_id}/image-uploads",
    tags,
    summary: "Begin to upload an image",
    description:
      "The bytes follow in parts: PUT /v1/image-uploads/{upload_id}/parts. The setting `image.uploaded_bytes_max` " +
      "limits the bytes of all uploaded images of a tenant. The upload is deleted a day after its last part. This " +
      "version has no export of images.",
    ...rights(deps, "ImageUpload", atTenant),
    request: { params: z.object({ tenant_id: Uuid }), body: jsonBody(ImageUploadBody) },
    responses: answersCreated(ImageUpload, "The upload"),
  });
  app.openapi(beginRoute, async (c) => {
    if (deps.imageStore === null) return faultResponse(c, NO_STORE);
    const { version: os_version, compatibility, content_bytes, ...rest } = c.req.valid("json");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const id = deps.mint.idFrom(idempotency.id, "image-upload");
    const bytes_max = Number((await deps.settings.get("image.uploaded_bytes_max")).value);
    const outcome = await deps.send(c, { kind: "image-upload", id }, {
      type: "create",
      id,
      tenant_id: scopeOf(c).tenant_id!,
      ...rest,
      os_version,
      content_bytes: content_bytes ?? null,
      compatibility: compatibility ? withoutNull(compatibility) : null,
      bytes_max,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show an upload",
    description: "404 when the upload is finished, cancelled or expired.",
    ...rights(deps, "ImageUploadGet", atUpload),
    request: { params },
    responses: answers(ImageUpload, "The upload"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await viewOf(c.req.valid("param").upload_id);
    return isFault(found) ? faultResponse(c, found) : c.json(found, 200);
  });

  const partRoute = createRoute({
    method: "put",
    path: `${path}/parts`,
    tags,
    summary: "Upload the next part",
    description:
      `The body is application/octet-stream: ${IMAGE_PART_BYTES} bytes, or the rest of the file. \`from\` is the ` +
      "body's position in the file: the upload's `received_bytes`. The message of a 409 contains the right position.",
    ...rights(deps, "ImageUploadPart", atUpload),
    ...REPEATABLE,
    ...refuses(415),
    request: { params, query: PartQuery },
    responses: answers(ImageUpload, "The upload, after the part was added"),
  });
  app.openapi(partRoute, async (c) => {
    if (parts === null) return faultResponse(c, NO_STORE);
    if (!isBytes(c)) return faultResponse(c, NOT_BYTES);
    const upload = await viewOf(c.req.valid("param").upload_id);
    if (isFault(upload)) return faultResponse(c, upload);
    const { from } = c.req.valid("query");
    const received = await parts.receive(c, upload, { from, bytes: new Uint8Array(await c.req.arrayBuffer()) });
    return isFault(received) ? faultResponse(c, received) : c.json(received, 200);
  });

  const finishRoute = createRoute({
    method: "post",
    path: `${path}/finish`,
    tags,
    summary: "Finish an upload",
    description:
      "The server creates the image in the tenant, with the SHA-256 of the stored bytes. The server computes the " +
      "digest while the parts arrive. At the end, this server process reads only the parts that it has not received " +
      "itself.",
    ...rights(deps, "ImageUploadFinish", atUpload),
    request: { params, body: { ...jsonBody(ImageUploadEndBody), required: false } },
    responses: answersCreated(Image, "The image"),
  });
  app.openapi(finishRoute, async (c) => {
    if (parts === null) return faultResponse(c, NO_STORE);
    const { upload_id: id } = c.req.valid("param");
    const { sha256: expected } = c.req.valid("json") ?? {};
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const upload = await findImageUpload(deps.kysely, id);
    // A successful finish deletes the upload. If the request is repeated, the stored reply contains the image, and the
    // digest is not used.
    if (upload === undefined && !idempotency.repeated) return faultResponse(c, NOT_FOUND);
    const sha256 = upload === undefined ? "" : await parts.digest(upload, expected ?? null);
    if (typeof sha256 !== "string") return faultResponse(c, sha256);
    const outcome = await deps.send(c, { kind: "image-upload", id }, { type: "finish", sha256 }, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const { image_id, image: made } = outcome.reply;
    const image = made ? madeImageView(made) : await findImage(deps.kysely, image_id);
    return image === undefined ? faultResponse(c, NOT_FOUND) : c.json(image, 201);
  });

  const cancelRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Cancel an upload",
    ...rights(deps, "ImageUploadCancel", atUpload),
    request: { params },
    responses: answersNothing("Cancelled"),
  });
  app.openapi(cancelRoute, async (c) => {
    const id = c.req.valid("param").upload_id;
    const outcome = await deps.sendOnce(c, { kind: "image-upload", id }, { type: "cancel" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });

  const readRoute = createRoute({
    method: "get",
    path: "/v1/agent/images/{upload_id}",
    tags: ["Node agent"],
    summary: "Read a part of an uploaded image",
    description:
      `\`part\` counts from 0. Each part has ${IMAGE_PART_BYTES} bytes; the last part may have fewer. While a job ` +
      "of a node is in progress, the node can read the image of the job. For a job without an image of its own, " +
      "that is the image of the instance. For other images the node gets 404.",
    ...rights(deps, "AgentImage"),
    request: { params, query: z.object({ part: wholeNumber(0, PART_MAX) }) },
    responses: {
      200: { description: "The part", content: { "application/octet-stream": { schema: z.string() } } },
      ...ERROR_RESPONSES,
    },
  });
  app.openapi(readRoute, async (c) => {
    const { upload_id: id } = c.req.valid("param");
    const { part } = c.req.valid("query");
    const size_bytes = await findUploadedForNode(deps.kysely, id, nodeOf(c));
    const bytes = size_bytes === null ? null : await deps.imageStore?.read(id, part) ?? null;
    if (bytes === null || size_bytes === null) return faultResponse(c, NOT_FOUND);
    // Bytes in the store after the end of the image belong to a part that was refused.
    const length = Math.min(bytes.length, size_bytes - part * IMAGE_PART_BYTES);
    if (length <= 0) return faultResponse(c, NOT_FOUND);
    return c.body(bytes.subarray(0, length), 200, { "content-type": "application/octet-stream" }) as never;
  });

  async function viewOf(id: string): Promise<ImageUpload | Fault> {
    const row = await findImageUpload(deps.kysely, id);
    // Callers do not see the upload of an image from a snapshot: only the operation and its node use this upload.
    return row === undefined || row.operation_id !== null ? NOT_FOUND : imageUploadView(row);
  }
}

function withoutNull({ min_platform, ...rest }: NonNullable<ImageUploadBody["compatibility"]>) {
  return min_platform ? { ...rest, min_platform } : rest;
}
