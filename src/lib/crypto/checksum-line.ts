// Parses the lines of vendors' checksum lists: gnu ("hex  name" or "hex *name") and bsd ("SHA256 (name) = hex"). This
// file checks only single lines; the code that reads the whole document checks the rest.
import { asDigest, type DigestAlgorithm } from "./digest-hex.ts";

/** The format of a checksum list. `bare`: the document is a single hash. */
export type ListFormat = "gnu" | "bsd" | "bare";
/** A parsed line: a file's name with its hash in lower-case hex, or the reason why the line gives no hash. */
export type ChecksumLine =
  | { readonly name: string; readonly hash: string }
  /** The line does not have this format, or its hash does not have the algorithm's length. */
  | "malformed"
  /** The line has a hash of another algorithm. A bsd document may list the same files once per algorithm. */
  | "other";

/** One space after the hash is enough: the checksum files of openSUSE 15.6 have only one. */
const GNU_LINE = /^([0-9a-fA-F]{32,128}) [ *]?(\S(?:.*\S)?)$/;
const BSD_LINE = /^([A-Z0-9-]{2,16}) \(([^()]{1,255})\) = ([0-9a-fA-F]{32,128})$/;

/**
 * Parses one line of a gnu or bsd list and converts the hash to lower case.
 * @param line - One line, without white space at its end.
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

/** Returns whether a line of a checksum list is empty or a comment. */
export function isSilentLine(line: string): boolean {
  return line === "" || line.startsWith("#");
}

function entry(name: string, text: string, algorithm: DigestAlgorithm): ChecksumLine {
  const hash = asDigest(text, algorithm);
  return hash === null ? "malformed" : { name, hash };
}
