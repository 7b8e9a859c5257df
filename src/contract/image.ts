// Defines the schemas of instances' images (docs/instances.md, "Images").
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import { INSTANCE_BRANDS, type InstanceBrand } from "./enums.ts";
import { Labels, NewLabels } from "./labels.ts";
import {
  DISK_BYTES_MAX,
  IMAGE_ARCH_CHARS_MAX,
  IMAGE_TEXT_CHARS_MAX,
  IMAGE_URL_CHARS_MAX,
  STAMP_CHARS_MAX,
} from "./limits.ts";
import { ImageScope } from "./scope.ts";
import { Description, ResourceName } from "./tenancy.ts";

const arch = z.string().regex(
  new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${IMAGE_ARCH_CHARS_MAX - 1}}$`),
  `must be 1 to ${IMAGE_ARCH_CHARS_MAX} letters, digits, dots, underscores or hyphens, the first a letter or digit`,
);
const stamp = z.string().regex(
  new RegExp(`^(?!.*\\.\\.)[A-Za-z0-9._-]{1,${STAMP_CHARS_MAX}}$`),
  `must be a platform stamp: 1 to ${STAMP_CHARS_MAX} letters, digits, dots, underscores or hyphens, without ..`,
);

/** The platform that an image needs. Instances of the image have its brand. */
export const Compatibility = z.strictObject({
  brand: z.enum(INSTANCE_BRANDS),
  arch: arch.describe("x86_64, aarch64, ..."),
  min_platform: stamp.nullish().describe("The oldest platform image that can run the image"),
});
/** The stored form of Compatibility: without a minimum the key min_platform is absent. */
export type Compatibility = { readonly brand: InstanceBrand; readonly arch: string; readonly min_platform?: string };

/** An image. `sha256` is the digest of its file in lower-case hex. */
export const Image = z.object({
  id: z.string(),
  scope: ImageScope,
  name: z.string(),
  description: z.string(),
  labels: Labels,
  os: z.string(),
  version: z.string(),
  size: z.number().int().describe("Size of the file in bytes; the same as size_bytes"),
  size_bytes: z.number().int(),
  content_bytes: z.number().int().describe("Size of the disk in the file; boot disks are at least this large"),
  sha256: z.string(),
  source_url: z.string().nullable(),
  compatibility: z.object({ brand: z.enum(INSTANCE_BRANDS), arch: z.string(), min_platform: z.string().optional() })
    .nullable(),
  created_at: Timestamp,
});
export type Image = z.infer<typeof Image>;

/** The body that creates an image. Nodes fetch its content from `source_url`. */
export const ImageBody = z.strictObject({
  id: Uuid.nullish().describe("Default: derived from the scope and the sha256"),
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  os: z.string().min(1).max(IMAGE_TEXT_CHARS_MAX),
  version: z.string().min(1).max(IMAGE_TEXT_CHARS_MAX),
  size_bytes: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  content_bytes: z.number().int().min(1).max(DISK_BYTES_MAX).nullish().describe(
    "Size of the disk in a compressed or sparse file. Default: size_bytes",
  ),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits"),
  source_url: z.string().max(IMAGE_URL_CHARS_MAX).refine(isPlainUrl, {
    message: "must be an http or https URL without a user name, a password or a fragment",
  }).nullish(),
  compatibility: Compatibility.nullish(),
});
export type ImageBody = z.infer<typeof ImageBody>;

/**
 * Returns whether the URL is http or https without credentials and fragment. Credentials are refused, because every
 * user who sees the image sees its URL.
 */
function isPlainUrl(text: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { username, password, hash } = new URL(text);
  return username === "" && password === "" && hash === "";
}
