// The row of an upload.
import type { Compatibility } from "../../src/contract/image.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";

export type ImageUploadColumns = Named & {
  readonly id: string;
  readonly tenant_id: string;
  readonly os: string;
  readonly os_version: string;
  readonly compatibility: Compatibility | null;
  readonly content_bytes: number | null;
  readonly size_bytes: number;
};

export type ImageUploadState = ImageUploadColumns & {
  readonly state: "open";
  readonly project_id: null;
  readonly received_bytes: number;
  readonly created_at: Date;
  readonly expires_at: Date;
};
