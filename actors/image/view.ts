// An image as the API shows it.
import type { Image } from "../../src/contract/image.ts";
import { scopeOf } from "../../src/lib/ids/scope.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { MadeImage } from "../image-upload/state.ts";
import type { ImageState } from "./transition.ts";

export function imageView(row: Omit<ImageState, "state">): Image {
  const {
    id,
    name,
    description,
    labels = {},
    os,
    os_version,
    size_bytes,
    content_bytes,
    sha256,
    source_url,
    compatibility,
  } = row;
  return {
    id,
    scope: scopeOf({ ...row, user_id: null }),
    name,
    description,
    labels,
    os,
    version: os_version,
    size: size_bytes,
    size_bytes,
    content_bytes: content_bytes ?? size_bytes,
    sha256,
    source_url,
    compatibility,
    created_at: toRfc3339(row.created_at),
  };
}

/** The view of an image that an upload became. Its columns are stored as JSON. */
export function madeImageView({ created_at, ...columns }: MadeImage): Image {
  return imageView({ ...columns, created_at: new Date(created_at) });
}
