// What the verbs about the control plane's own images share. The others of the family are about an index.
import type { Image } from "../../../src/contract/image.ts";
import type { Io } from "../../internal/io.ts";
import { findRecord, named } from "../../internal/record-name.ts";

export const IMAGES_PATH = "/v1/images";
export const RECORD_ARGUMENT = [
  "<image-record>",
  "UUID; of a public image also a unique UUID prefix or its name",
] as const;

/** Operators see images of every scope by their UUIDs; by name those that everybody sees. */
export async function findImageRecord(io: Io, name: string): Promise<Image> {
  const kind = named<Image>("public image", "opsctl image list");
  return await findRecord(publicOnly(io), name, { path: IMAGES_PATH, kind });
}

export async function publicImages(io: Io): Promise<Image[]> {
  return await io.all<Image>(IMAGES_PATH, { scope: "public" });
}

/** The list of images is of one scope, which has to be named. */
function publicOnly(io: Io): Io {
  return { ...io, all: async (path) => await io.all(path, { scope: "public" }) };
}
