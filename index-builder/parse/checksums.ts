// Parses checksum documents. A `bare` document must be a single hash. In other documents, comments, empty lines and
// labelled hashes of other algorithms are skipped. Every other line must be a checksum in the expected format. If a
// line is not, for example a truncated line or a line of HTML, the whole document is refused. A document with two
// different hashes for one name is also refused.
import { checksumLine, isSilentLine, type ListFormat } from "../../src/lib/crypto/checksum-line.ts";
import { asDigest, type DigestAlgorithm } from "../../src/lib/crypto/digest-hex.ts";
import { unreadable, VendorFault } from "../fault.ts";

export type { ListFormat };
/** Hashes by file name as in the document. A `bare` document has one entry, under the empty name. */
export type Checksums = ReadonlyMap<string, string>;

type Layout = { format: ListFormat; algorithm: DigestAlgorithm };

/**
 * @param what name of the document for error messages
 * @throws VendorFault unreadable, or untrusted if one name has two different hashes
 */
export function parseChecksums(what: string, text: string, { format, algorithm }: Layout): Checksums {
  if (format === "bare") return bare(what, text, algorithm);
  const found = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trimEnd();
    if (isSilentLine(trimmed)) continue;
    const entry = checksumLine(trimmed, format, algorithm);
    if (entry === "malformed") throw unreadable(what, `line ${index + 1} is not a checksum in ${format} format`);
    if (entry === "other") continue;
    const before = found.get(entry.name);
    if (before !== undefined && before !== entry.hash) {
      throw new VendorFault("untrusted", `${what}: two different hashes for ${entry.name}`);
    }
    found.set(entry.name, entry.hash);
  }
  if (found.size === 0) throw unreadable(what, `it contains no ${algorithm} checksum`);
  return found;
}

function bare(what: string, text: string, algorithm: DigestAlgorithm): Checksums {
  const hash = asDigest(text.trim(), algorithm);
  if (hash === null) throw unreadable(what, `it does not contain exactly one ${algorithm} hash`);
  return new Map([["", hash]]);
}
