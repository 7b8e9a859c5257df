import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
/** RFC 1952, 2.3: the byte that names the system, and its value for an unknown one. */
const SYSTEM_AT = 9;
const SYSTEM_UNKNOWN = 255;

/** The same bytes for the same bytes: no time, no file name, and nothing about the machine that compressed. */
export async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const made = await compress(bytes);
  made[SYSTEM_AT] = SYSTEM_UNKNOWN;
  return made;
}
