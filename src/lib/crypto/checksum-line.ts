// The lines of vendors' checksum lists (document 1, ChecksumFormat): gnu ("hex  name" or "hex *name") and bsd
// ("SHA256 (name) = hex"). What a whole document must be is for whoever reads it.
import { asDigest, type DigestAlgorithm } from "./digest-hex.ts";

/** Document 1, ChecksumFormat. `bare`: a document that is nothing but one hash. */
export type ListFormat = "gnu" | "bsd" | "bare";
/** What a line holds: a file's name and its hash in lower-case hex, or why it is no such line. */
export type ChecksumLine =
  | { readonly name: string; readonly hash: string }
  /** Not a line of this format, or not a hash of this length. */
  | "malformed"
  /** A hash of another algorithm: one bsd document may hold several over the same names. */
  | "other";

/** One space is enough: openSUSE 15.6 writes its sidecars so. */
const GNU_LINE = /^([0-9a-fA-F]{32,128}) [ *]?(\S(?:.*\S)?)$/;
const BSD_LINE = /^([A-Z0-9-]{2,16}) \(([^()]{1,255})\) = ([0-9a-fA-F]{32,128})$/;

/**
 * One line of a gnu or bsd list, its hash in lower case (document 1, ChecksumFormat).
 * @param line without white space at its end
 */
export function checksumLine(line: string, format: "gnu" | "bsd", algorithm: DigestAlgorithm): ChecksumLine {
  if (format === "gnu") {
    const [, hash = "", name = ""] = GNU_LINE.exec(line) ?? [];
    return entry(name, hash, algorithm);
  }
  const [, label = "", name = "", hash = ""] = BSD_LINE.exec(line) ?? [];
  if (label !== "" && label.toLowerCase().replace("-", "") !== algorithm) return "other";
  return entry(name, hash, algorithm);
}

/** Whether a line of a checksum list says nothing: it is empty or a comment. */
export function isSilentLine(line: string): boolean {
  return line === "" || line.startsWith("#");
}

function entry(name: string, text: string, algorithm: DigestAlgorithm): ChecksumLine {
  const hash = asDigest(text, algorithm);
  return hash === null ? "malformed" : { name, hash };
}
