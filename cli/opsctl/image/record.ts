// Shared by the verbs about the control plane's images. The other image verbs read an index.
import type { Image } from "../../../src/contract/image.ts";
import type { Io } from "../../internal/io.ts";
import { findRecord, named } from "../../internal/record-name.ts";

export const IMAGES_PATH = "/v1/images";
export const RECORD_ARGUMENT = [
  "<image-record>",
  "UUID; for a public image also a unique UUID prefix or a name",
] as const;

/** Finds an image. A UUID finds an image of any scope; a name finds only a public image. */
export async function findImageRecord(io: Io, name: string): Promise<Image> {
  const kind = named<Image>("public image", "opsctl image list");
  return await findRecord(publicOnly(io), name, { path: IMAGES_PATH, kind });
}

export async function publicImages(io: Io): Promise<Image[]> {
  return await io.all<Image>(IMAGES_PATH, { scope: "public" });
}

/** Returns an Io that lists only public images, because the image list requires a scope. */
function publicOnly(io: Io): Io {
  return { ...io, all: async (path) => await io.all(path, { scope: "public" }) };
}
