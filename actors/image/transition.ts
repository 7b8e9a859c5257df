// An image: what instances are made from. Its bytes are elsewhere; the record says how long they are, what they hash to
// and where they can be had. It does not go while an instance uses it.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { ImageScopeKind } from "../../src/contract/enums.ts";
import type { Compatibility, Image } from "../../src/contract/image.ts";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey, parentKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { scopeOf } from "../../src/lib/ids/scope.ts";
import { audit, go, guard, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Condition, Out } from "../engine/types.ts";

type ImageColumns = Omit<ScopeColumns<ImageScopeKind>, "user_id"> & {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly os: string;
  /** The wire says `version`, which in a row is the engine's. */
  readonly os_version: string;
  readonly size_bytes: number;
  /** Of the disk that the file holds; null where it is the file. */
  readonly content_bytes: number | null;
  /** Lower hex. */
  readonly sha256: string;
  readonly source_url: string | null;
  readonly compatibility: Compatibility | null;
};

export type ImageMessage =
  | ({ readonly type: "create" } & ImageColumns)
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

export type ImageState = ImageColumns & { readonly state: "live"; readonly created_at: Date };

type Live = At<ImageState, "live">;

export const imageTable: Table<ImageState, ImageMessage> = {
  create: { absent: create, live: clash },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<ImageMessage, "create">, now: Date): Out<ImageState> {
  const { type: _type, ...columns } = m;
  const broken = nameFault(m.name);
  if (broken !== null) return refuse(broken);
  const { id, name, os, os_version, sha256 } = columns;
  return go(
    { ...columns, state: "live", created_at: now },
    ...parentLocks(m),
    audit("image_create", resource(id), { ...scopeNote(m), name, os, version: os_version, sha256 }),
  );
}

/** The id is there already: of the same bytes in the same scope, unless the caller chose it. */
function clash(s: Live, m: Of<ImageMessage, "create">): Out<ImageState> {
  const same = s.sha256 === m.sha256 && s.scope_kind === m.scope_kind && s.silo_id === m.silo_id &&
    s.tenant_id === m.tenant_id && s.project_id === m.project_id;
  return refuse(
    conflict(same ? `the bytes of image ${s.id} (${s.name}) are the same` : `an image with id ${s.id} already exists`),
  );
}

function update(s: Live, m: Of<ImageMessage, "update">): Out<ImageState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("image_update", resource(s.id), { ...scopeNote(s), name: next.name }),
  );
}

function remove(s: Live): Out<ImageState> {
  const image_id = s.id;
  return go<ImageState>(
    null,
    // Whoever makes an instance of it shares this lock.
    lock(lockKey("image", image_id)),
    guard("image_is_unused", { image_id }, `image ${image_id} is in use by <WHAT>; delete that first`),
    audit("image_delete", resource(image_id), { ...scopeNote(s), name: s.name, sha256: s.sha256 }),
  );
}

/** Whoever deletes a project or a tenant sees what is in it. */
function parentLocks(columns: ImageColumns): Condition[] {
  const key = parentKey(columns);
  return key === null ? [] : [lock(key, true)];
}

function scopeNote(columns: ImageColumns) {
  const { silo_id, tenant_id, project_id } = columns;
  return { scope: scopeOf({ ...columns, user_id: null }), silo_id, tenant_id, project_id };
}

function resource(id: string): string {
  return `Image::"${id}"`;
}

export function imageView(s: ImageState): Image {
  const { id, name, description, os, os_version, size_bytes, content_bytes, sha256, source_url, compatibility } = s;
  return {
    id,
    scope: scopeOf({ ...s, user_id: null }),
    name,
    description,
    os,
    version: os_version,
    size: size_bytes,
    size_bytes,
    content_bytes: content_bytes ?? size_bytes,
    sha256,
    source_url,
    compatibility,
    created_at: toRfc3339(s.created_at),
  };
}

export const image: Behavior<ImageState, ImageMessage> = {
  kind: "image",
  table: "image",
  key: "id",
  step: (s, m, now) => runTable(imageTable, s, m, now),
  deadline: () => null,
  view: imageView,
  constraints: {
    image_name: conflict("an image named <name> already exists in this scope"),
    image_silo_fkey: NOT_FOUND,
    image_tenant_fkey: NOT_FOUND,
    image_project_fkey: NOT_FOUND,
    instance_image_fkey: conflict("the image is gone, or still in use by an instance"),
  },
};
