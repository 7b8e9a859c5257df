// The bytes of the image that tests upload.
import { createHash, randomBytes } from "node:crypto";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";

/** Three whole parts and one shorter part. */
export const BYTES = randomBytes(3 * IMAGE_PART_BYTES + 12_345);
/** The digest of BYTES, in hex. */
export const SHA256 = createHash("sha256").update(BYTES).digest("hex");
