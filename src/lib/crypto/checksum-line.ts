// Parses the lines of vendors' checksum lists: gnu ("hex  name" or "hex *name") and bsd ("SHA256 (name) = hex"). The reader
// of a whole document checks the rest.
import { asDigest, type DigestAlgorithm } from "./digest-hex.ts";

/** The format of a checksum list. `bare`: the document is a single hash. */
export type ListFormat = "gnu" | "bsd" | "bare";
/** A file's name with its hash in lower-case hex, or the reason why the line has none. */
export type ChecksumLine =
  | { readonly name: string; readonly hash: string }
  /** Not a line of this format, or not a hash of this length. */
  | "malformed"
  /** A hash of another algorithm: a bsd document may have several for the same names. */
  | "other";

/** One space is enough, as in the sidecars of openSUSE 15.6. */
const GNU_LINE = /^([0-9a-fA-F]{32,128}) [ *]?(\S(?:.*\S)?)$/;
const BSD_LINE = /^([A-Z0-9-]{2,16}) \(([^()]{1,255})\) = ([0-9a-fA-F]{32,128})$/;

/**
 * Parses one line of a gnu or bsd list. The hash becomes lower case.
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

/** Whether a line of a checksum list is empty or a comment. */
export function isSilentLine(line: string): boolean {
  return line === "" || line.startsWith("#");
}

function entry(name: string, text: string, algorithm: DigestAlgorithm): ChecksumLine {
  const hash = asDigest(text, algorithm);
  return hash === null ? "malformed" : { name, hash };
}
