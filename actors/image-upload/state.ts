// The row of an upload.
import type { Compatibility } from "../../src/contract/image.ts";
import type { Labels } from "../../src/contract/labels.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";

/** The properties of the image, which the upload has from its start. */
export type PlannedImage = Named & {
  readonly labels: Labels;
  readonly os: string;
  readonly os_version: string;
  readonly compatibility: Compatibility | null;
  readonly content_bytes: number | null;
};

export type ImageUploadColumns = PlannedImage & {
  readonly id: string;
  readonly tenant_id: string;
  /** The project and the operation of an image from a snapshot; null for a tenant's own upload. */
  readonly project_id: string | null;
  readonly operation_id: string | null;
  readonly size_bytes: number;
};

export type ImageUploadState = ImageUploadColumns & {
  readonly state: "open";
  readonly received_bytes: number;
  /** The digest that the server computed; null while bytes of an operation's upload are missing, and for other uploads. */
  readonly sha256: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
};
