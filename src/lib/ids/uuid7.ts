// Creates UUIDs of version 7 (RFC 9562), which have 48 bits of milliseconds and 74 random bits. Time and randomness are
// parameters.
const MS_MAX = 2 ** 48 - 1;
const RANDOM_BYTES = 10;

/**
 * @param unixMs whole milliseconds since 1970, 0 to 2^48 - 1
 * @param random ten random bytes, of which 74 bits are used
 * @returns the UUID in lower case
 * @throws RangeError if a parameter is outside these ranges
 */
export function uuid7(unixMs: number, random: Uint8Array): string {
  if (!Number.isInteger(unixMs) || unixMs < 0 || unixMs > MS_MAX) throw new RangeError("unixMs is outside 48 bits");
  if (random.length !== RANDOM_BYTES) throw new RangeError(`a UUIDv7 needs ${RANDOM_BYTES} random bytes`);
  const tail = Uint8Array.from(random);
  tail[0] = 0x70 | (tail[0]! & 0x0f);
  tail[2] = 0x80 | (tail[2]! & 0x3f);
  const time = unixMs.toString(16).padStart(12, "0");
  const rest = Array.from(tail, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}
