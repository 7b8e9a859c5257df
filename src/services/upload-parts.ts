// Receives the parts of an upload from a tenant, or from a node that makes an image from a snapshot.
import { z } from "zod";
import { imageUploadView, placeOfPart } from "../../actors/image-upload/view.ts";
import { findImageUpload } from "../../actors/image-upload/reads.ts";
import { wholeNumber } from "../contract/common.ts";
import { badRequest, conflict, type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import type { ImageUpload } from "../contract/image-upload.ts";
import { IMAGE_PART_BYTES, IMAGE_UPLOAD_BYTES_MAX } from "../contract/limits.ts";
import type { ImageStore } from "../image-store/store.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";
import { createUploadDigests } from "./upload-digests.ts";

export const NO_STORE = conflict(
  "this site stores no images; the operator can set BERTH_IMAGE_DIR or BERTH_IMAGE_BUCKET",
);
export const NOT_BYTES = fault("unsupported_media_type", "send the part as application/octet-stream");
export const PartQuery = z.object({ from: wholeNumber(0, IMAGE_UPLOAD_BYTES_MAX) });

const OTHER_DIGEST = (found: string) => conflict(`the stored bytes have the SHA-256 ${found}; upload the file again`);
const OTHER_BYTES = conflict(
  "the part is stored already with other bytes: another program also sends parts of this upload. Cancel the upload and begin again",
);
const MISSING_BYTES = badRequest("stored bytes are missing; upload the file again");

export function isBytes(c: Ctx): boolean {
  return c.req.header("content-type") === "application/octet-stream";
}

type Part = { readonly from: number; readonly bytes: Uint8Array<ArrayBuffer> };
type Stored = { readonly id: string; readonly size_bytes: number; readonly received_bytes: number };

export function uploadParts(deps: Pick<RouteDeps, "kysely" | "send">, store: ImageStore) {
  const digests = createUploadDigests(store.read);

  /** Stores a part and returns the updated upload. */
  async function receive(c: Ctx, upload: ImageUpload, { from, bytes }: Part): Promise<ImageUpload | Fault> {
    const { id } = upload;
    const place = placeOfPart(upload, { from, bytes: bytes.length });
    // If `place` is a Fault, the part cannot be stored now, and the actor gets no message about the part. The previous
    // part may have arrived meanwhile. A message would then make the actor accept a part whose bytes are not stored. A
    // stored part never changes: `write` compares a repeated part with it.
    if (typeof place !== "string") return place;
    if (!(await store.write(id, from / IMAGE_PART_BYTES, bytes))) return OTHER_BYTES;
    const outcome = await deps.send(c, { kind: "image-upload", id }, { type: "receive", from, bytes: bytes.length });
    if (!outcome.ok) return outcome.fault;
    if (place === "next") {
      await digests.add(id, from, bytes);
      return outcome.reply;
    }
    const row = await findImageUpload(deps.kysely, id);
    return row === undefined ? NOT_FOUND : imageUploadView(row);
  }

  /**
   * Returns the SHA-256 of all bytes. Returns a Fault if bytes are missing, or if the digest is not the expected one.
   */
  async function digest(upload: Stored, expected: string | null): Promise<string | Fault> {
    const { id, size_bytes, received_bytes } = upload;
    if (received_bytes < size_bytes) return conflict(`the upload has ${received_bytes} of ${size_bytes} bytes`);
    const sha256 = await digests.digest(id, size_bytes);
    if (sha256 === null) return MISSING_BYTES;
    return expected !== null && expected !== sha256 ? OTHER_DIGEST(sha256) : sha256;
  }

  return { receive, digest };
}
