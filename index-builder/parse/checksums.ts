// Checksum documents. Every line must read as what it should be, so that a cut, an HTML page or another document is refused
// as a whole, and the same name with two hashes is too. Comments (#) and empty lines pass.
import { checksumLine, isSilentLine, type ListFormat } from "../../src/lib/crypto/checksum-line.ts";
import { asDigest, type DigestAlgorithm } from "../../src/lib/crypto/digest-hex.ts";
import { unreadable, VendorFault } from "../fault.ts";

export type { ListFormat };
/** Hash by name, as the document spells the name. `bare` has one entry, under the empty name. */
export type Checksums = ReadonlyMap<string, string>;

type Layout = { format: ListFormat; algorithm: DigestAlgorithm };

/**
 * @param what how the document is called in the message
 * @throws VendorFault unreadable
 */
export function parseChecksums(what: string, text: string, { format, algorithm }: Layout): Checksums {
  if (format === "bare") return bare(what, text, algorithm);
  const found = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trimEnd();
    if (isSilentLine(trimmed)) continue;
    const entry = checksumLine(trimmed, format, algorithm);
    if (entry === "malformed") throw unreadable(what, `line ${index + 1} is not a ${format} checksum`);
    if (entry === "other") continue;
    const before = found.get(entry.name);
    if (before !== undefined && before !== entry.hash) {
      throw new VendorFault("untrusted", `${what}: two different hashes for ${entry.name}`);
    }
    found.set(entry.name, entry.hash);
  }
  if (found.size === 0) throw unreadable(what, `no ${algorithm} checksum in it`);
  return found;
}

function bare(what: string, text: string, algorithm: DigestAlgorithm): Checksums {
  const hash = asDigest(text.trim(), algorithm);
  if (hash === null) throw unreadable(what, `not a ${algorithm} hash alone`);
  return new Map([["", hash]]);
}
