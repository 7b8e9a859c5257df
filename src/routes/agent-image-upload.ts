// Defines the routes by which a node sends the bytes of an image from a snapshot, while the job that makes the image is
// in progress (docs/instances.md, "Images from snapshots").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findImageOfJob, findImageUpload } from "../../actors/image-upload/reads.ts";
import { imageUploadView } from "../../actors/image-upload/view.ts";
import { Uuid } from "../contract/common.ts";
import { conflict, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { ImageUpload, ImageUploadEndBody, JobImageBody, JobImageDigest } from "../contract/image-upload.ts";
import { IMAGE_PART_BYTES } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { nodeOf } from "../services/calling-node.ts";
import { isBytes, NO_STORE, NOT_BYTES, PartQuery, uploadParts } from "../services/upload-parts.ts";
import { answers, jsonBody, refuses, REPEATABLE, rights } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "imageStore" | "settings">;

const tags = ["Node agent"];
const path = "/v1/agent/images/{upload_id}";
const params = z.object({ upload_id: Uuid });
const ABOUT = "404 unless this node has a job in progress that makes the image.";

export function agentImageUploadRoutes(app: App, deps: Deps): void {
  const parts = deps.imageStore === null ? null : uploadParts(deps, deps.imageStore);

  const beginRoute = createRoute({
    method: "post",
    path,
    tags,
    summary: "Start the upload of the image of a job",
    description:
      `${ABOUT} The request can be repeated; its answer contains the number of stored bytes. 409 if the size is ` +
      "not the size of the first request, or if the tenant's images would have more bytes than the setting " +
      "`image.uploaded_bytes_max`.",
    ...rights(deps, "AgentImageSend"),
    ...REPEATABLE,
    request: { params, body: jsonBody(JobImageBody) },
    responses: answers(ImageUpload, "The upload"),
  });
  app.openapi(beginRoute, async (c) => {
    const { upload_id: id } = c.req.valid("param");
    const { size_bytes } = c.req.valid("json");
    const job = await findImageOfJob(deps.kysely, id, nodeOf(c));
    if (job === undefined) return faultResponse(c, NOT_FOUND);
    if (parts === null) return faultResponse(c, NO_STORE);
    const known = await findImageUpload(deps.kysely, id);
    if (known !== undefined) {
      const is_same = known.size_bytes === size_bytes;
      const other = conflict(`the upload has ${known.size_bytes} bytes, not ${size_bytes}`);
      return is_same ? c.json(imageUploadView(known), 200) : faultResponse(c, other);
    }
    const bytes_max = Number((await deps.settings.get("image.uploaded_bytes_max")).value);
    const { tenant_id, project_id, operation_id, image } = job;
    const planned = { id, tenant_id, project_id, operation_id, size_bytes, ...image };
    const outcome = await deps.send(c, { kind: "image-upload", id }, { type: "create", ...planned, bytes_max });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const partRoute = createRoute({
    method: "put",
    path: `${path}/parts`,
    tags,
    summary: "Send the next part of the image of a job",
    description:
      `The body is application/octet-stream: ${IMAGE_PART_BYTES} bytes, or the rest of the image. \`from\` is the ` +
      `body's position in the image. The message of a 409 contains the right position. ${ABOUT}`,
    ...rights(deps, "AgentImageSend"),
    ...REPEATABLE,
    ...refuses(415),
    request: { params, query: PartQuery },
    responses: answers(ImageUpload, "The upload, after the part was added"),
  });
  app.openapi(partRoute, async (c) => {
    const upload = await ofJob(c, c.req.valid("param").upload_id);
    if (isFault(upload)) return faultResponse(c, upload);
    if (parts === null) return faultResponse(c, NO_STORE);
    if (!isBytes(c)) return faultResponse(c, NOT_BYTES);
    const part = { from: c.req.valid("query").from, bytes: new Uint8Array(await c.req.arrayBuffer()) };
    const received = await parts.receive(c, imageUploadView(upload), part);
    return isFault(received) ? faultResponse(c, received) : c.json(received, 200);
  });

  const finishRoute = createRoute({
    method: "post",
    path: `${path}/finish`,
    tags,
    summary: "Finish the upload of the image of a job",
    description: `The server computes the digest of the stored bytes. The image is created when the job ends. ${ABOUT}`,
    ...rights(deps, "AgentImageSend"),
    ...REPEATABLE,
    request: { params, body: { ...jsonBody(ImageUploadEndBody), required: false } },
    responses: answers(JobImageDigest, "The digest"),
  });
  app.openapi(finishRoute, async (c) => {
    const upload = await ofJob(c, c.req.valid("param").upload_id);
    if (isFault(upload)) return faultResponse(c, upload);
    if (parts === null) return faultResponse(c, NO_STORE);
    const sha256 = await parts.digest(upload, c.req.valid("json")?.sha256 ?? null);
    if (typeof sha256 !== "string") return faultResponse(c, sha256);
    const outcome = await deps.send(c, { kind: "image-upload", id: upload.id }, { type: "seal", sha256 });
    return outcome.ok ? c.json({ sha256 }, 200) : faultResponse(c, outcome.fault);
  });

  /** Returns the upload of a job. The job must be in progress on the calling node. */
  async function ofJob(c: Ctx, id: string) {
    const job = await findImageOfJob(deps.kysely, id, nodeOf(c));
    const upload = job === undefined ? undefined : await findImageUpload(deps.kysely, id);
    return upload ?? (NOT_FOUND satisfies Fault);
  }
}
