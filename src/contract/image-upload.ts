// Defines the schemas of images whose bytes the site stores (docs/instances.md, "Uploaded images" and "Images from
// snapshots").
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { ImageBody } from "./image.ts";
import { IMAGE_UPLOAD_BYTES_MAX } from "./limits.ts";

/** The body that begins an upload. The server computes the digest. */
export const ImageUploadBody = ImageBody.omit({ id: true, sha256: true, source_url: true, size_bytes: true }).extend({
  size_bytes: z.number().int().min(1).max(IMAGE_UPLOAD_BYTES_MAX).describe("Size of the file"),
});
export type ImageUploadBody = z.input<typeof ImageUploadBody>;

/** An upload that is not complete. */
export const ImageUpload = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  size_bytes: z.number().int(),
  received_bytes: z.number().int().describe("The bytes received so far, which is also the position of the next part"),
  part_bytes: z.number().int().describe("The size of each part. Only the last part may be smaller"),
  created_at: Timestamp,
  expires_at: Timestamp.describe(
    "The server deletes the upload at this time. Each part that arrives postpones the time",
  ),
});
export type ImageUpload = z.infer<typeof ImageUpload>;

/** The body that finishes an upload. */
export const ImageUploadEndBody = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits").nullish().describe(
    "The digest that the caller expects; 409 if the stored bytes have another digest",
  ),
});
export type ImageUploadEndBody = z.input<typeof ImageUploadEndBody>;

/**
 * The body that makes an image from a snapshot. The server takes the other properties of the image from the snapshot
 * and from the image of the snapshot's instance.
 */
export const SnapshotImageBody = ImageBody.pick({ name: true, description: true, labels: true }).extend({
  os: ImageBody.shape.os.nullish().describe("Default: as in the instance's image"),
  version: ImageBody.shape.version.nullish().describe("Default: as in the instance's image"),
});
export type SnapshotImageBody = z.input<typeof SnapshotImageBody>;

/** The body with which a node begins to send the image that a job makes. */
export const JobImageBody = z.object({ size_bytes: ImageUploadBody.shape.size_bytes });

/** The digest of the bytes that a node sent. The server computed it. */
export const JobImageDigest = z.object({ sha256: z.string() });
