// Creates UUIDs of version 5 (RFC 9562, 5.5), which are the SHA-1 of a namespace and a name. The same namespace and
// name always give the same UUID.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

const FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const UUID_BYTES = 16;

/**
 * @param namespace a UUID
 * @param name any text, hashed as UTF-8
 * @returns the UUID in lower case
 * @throws RangeError when the namespace is not a UUID
 */
export function uuid5(namespace: string, name: string): string {
  if (!FORM.test(namespace)) throw new RangeError("the namespace is not a UUID");
  const space = Buffer.from(namespace.replaceAll("-", ""), "hex");
  const bytes = createHash("sha1").update(space).update(name).digest().subarray(0, UUID_BYTES);
  bytes[6] = 0x50 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Returns whether a UUID is of version 5. */
export function isUuid5(uuid: string): boolean {
  return FORM.test(uuid) && uuid[14] === "5";
}
