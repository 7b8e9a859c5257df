import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
/** RFC 1952, 2.3: the position of the byte for the operating system, and its value for an unknown operating system. */
const SYSTEM_AT = 9;
const SYSTEM_UNKNOWN = 255;

/** Compresses reproducibly: without time, file name or operating system. */
export async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const made = await compress(bytes);
  made[SYSTEM_AT] = SYSTEM_UNKNOWN;
  return made;
}
