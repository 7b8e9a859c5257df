// An image from which instances are created. The record holds the size, the hash and the source of the bytes, which are
// stored elsewhere. A delete is refused while an instance uses the image.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { ImageScopeKind } from "../../src/contract/enums.ts";
import type { Compatibility, Image } from "../../src/contract/image.ts";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import { lockKey, parentKey } from "../../src/lib/ids/lock-key.ts";
import { scopeOf } from "../../src/lib/ids/scope.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { guard, lock } from "../engine/effects.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import { imageView } from "./view.ts";

type Scope = Omit<ScopeColumns<ImageScopeKind>, "user_id">;

type Columns = Scope & Named & {
  readonly id: string;
  readonly os: string;
  /** In the API, this field has the name `version`. In the table, the column `version` belongs to the engine. */
  readonly os_version: string;
  readonly size_bytes: number;
  /** The size of the disk inside the file; null if the file is the disk. */
  readonly content_bytes: number | null;
  /** The hash in lower-case hexadecimal digits. */
  readonly sha256: string;
  readonly source_url: string | null;
  readonly compatibility: Compatibility | null;
};

export type ImageMessage = Create<Columns> | Update | Delete;

export type ImageState = RecordState<Columns>;

export const image = record<ImageState, ImageMessage, Image>({
  kind: "image",
  table: "image",
  noun: "image",
  resource: "Image",
  parent: parentKey,
  create: {
    action: "image_create",
    note: (row) => {
      const { name, os, os_version: version, sha256 } = row;
      return { ...scopeNote(row), name, os, version, sha256 };
    },
    clash: (row, message) =>
      conflict(
        sameBytes(row, message)
          ? `image ${row.id} (${row.name}) has the same bytes`
          : `an image with id ${row.id} already exists`,
      ),
  },
  update: { action: "image_update", note: (row) => ({ ...scopeNote(row), name: row.name }) },
  delete: {
    action: "image_delete",
    note: (row) => ({ ...scopeNote(row), name: row.name, sha256: row.sha256 }),
    parts: ({ id: image_id }) => [
      // The create of an instance takes this lock shared.
      lock(lockKey("image", image_id)),
      guard("image_is_unused", { image_id }, `image ${image_id} is in use by <WHAT>, which must be deleted first`),
    ],
  },
  has_labels: true,
  view: imageView,
  constraints: {
    image_name: conflict("an image named <name> already exists in this scope"),
    image_silo_fkey: NOT_FOUND,
    image_tenant_fkey: NOT_FOUND,
    image_project_fkey: NOT_FOUND,
    instance_image_fkey: conflict("the image was deleted, or an instance still uses it"),
  },
});

/**
 * Returns whether two images with the same id have the same bytes and scope. A derived id guarantees this, because it
 * depends on both. An id that the caller chose does not.
 */
function sameBytes(one: Columns, other: Columns): boolean {
  return one.sha256 === other.sha256 && one.scope_kind === other.scope_kind && one.silo_id === other.silo_id &&
    one.tenant_id === other.tenant_id && one.project_id === other.project_id;
}

function scopeNote(row: Scope) {
  const { silo_id, tenant_id, project_id } = row;
  return { scope: scopeOf({ ...row, user_id: null }), silo_id, tenant_id, project_id };
}
