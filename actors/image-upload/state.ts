// The row of an upload.
import type { Compatibility } from "../../src/contract/image.ts";
import type { Labels } from "../../src/contract/labels.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";

/** The properties that the image will have. They are known when the upload starts. */
export type PlannedImage = Named & {
  readonly labels: Labels;
  readonly os: string;
  readonly os_version: string;
  readonly compatibility: Compatibility | null;
  readonly content_bytes: number | null;
};

/** The stored bytes of an upload whose digest the server has computed. */
export type StoredImage = { readonly sha256: string; readonly size_bytes: number };

/** The columns of the image that an upload becomes. `created_at` is the time as text, because replies are JSON. */
export type MadeImage = PlannedImage & StoredImage & {
  readonly id: string;
  readonly scope_kind: "tenant" | "project";
  readonly silo_id: null;
  readonly tenant_id: string;
  readonly project_id: string | null;
  readonly source_url: string;
  readonly created_at: string;
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
  /**
   * The digest that the server computed for the upload of an operation. Null until the server has computed the digest,
   * and for an upload without an operation.
   */
  readonly sha256: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
};
