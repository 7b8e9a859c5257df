// Defines how commands list, find and delete the control plane's images. The other image verbs read an image index.
import type { Image } from "../../../src/contract/image.ts";
import { exactSizeText } from "../../internal/byte-size.ts";
import type { Io } from "../../internal/io.ts";
import { findRecord, isUuid, named, titleOf } from "../../internal/record-name.ts";
import { AGE_COLUMN, BYTES_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import type { Kind } from "../record/kind.ts";

export const IMAGES_PATH = "/v1/images";

/** Finds an image. A UUID finds an image of any scope; a name finds only a public image. */
async function findImageRecord(io: Io, name: string): Promise<Image> {
  const kind = named<Image>("public image", "opsctl image list");
  return await findRecord(publicOnly(io), name, { path: IMAGES_PATH, kind });
}

/** Returns the UUID of an image. A complete UUID needs no request. */
export async function resolveImage(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findImageRecord(io, name)).id;
}

export async function publicImages(io: Io): Promise<Image[]> {
  return await io.all<Image>(IMAGES_PATH, { scope: "public" });
}

/** Returns an Io that lists only public images, because the image list requires a scope. */
function publicOnly(io: Io): Io {
  return { ...io, all: async (path) => await io.all(path, { scope: "public" }) };
}

export const IMAGE: Kind<Image> = {
  one: "image",
  many: "images",
  argument: ["<image-record>", "UUID; for a public image also a unique UUID prefix or a name"],
  sample: "debian-12",
  summaries: {
    list: "List the public images, which every tenant can use",
    delete: "Delete an unused image from the control plane",
  },
  columns: [
    ["NAME", (image) => image.name],
    ["ID", (image) => image.id, ID_COLUMN],
    ["OS", (image) => image.os],
    ["VERSION", (image) => image.version],
    ["BRAND", (image) => image.compatibility?.brand],
    ["ARCH", (image) => image.compatibility?.arch],
    ["SIZE", (image) => image.size_bytes, BYTES_COLUMN],
    ["AGE", (image) => image.created_at, AGE_COLUMN],
    ["CREATED_AT", (image) => image.created_at, WIDE_COLUMN],
  ],
  lines: (image) => [
    ["id", image.id],
    ["name", image.name],
    ["description", image.description],
    ["os", image.os],
    ["version", image.version],
    ["brand", image.compatibility?.brand],
    ["arch", image.compatibility?.arch],
    ["min_platform", image.compatibility?.min_platform],
    ["size", exactSizeText(image.size_bytes)],
    ["sha256", image.sha256],
    ["created_at", image.created_at],
  ],
  all: publicImages,
  find: findImageRecord,
  lost: (image) => ({
    warning: `Delete image ${
      titleOf(image)
    }. No instance can be created from it any more, and its uploaded file, if it has one, is deleted.`,
    names: [image.name, image.id],
  }),
  record: (image) => image,
  path: ({ id }) => `${IMAGES_PATH}/${id}`,
  title: titleOf,
};
