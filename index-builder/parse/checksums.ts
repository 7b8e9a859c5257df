// Checksum documents: gnu ("hex  name" or "hex *name"), bsd ("SHA256 (name) = hex") and bare (the hash alone). Every line
// must read as what it should be, so that a cut, an HTML page or another document is refused as a whole, and the same name
// with two hashes is too. Comments (#) and empty lines pass.
import { unreadable, VendorFault } from "../fault.ts";
import type { DigestAlgorithm } from "../tree/enums.ts";
import { asDigest } from "./digest.ts";

export type ListFormat = "gnu" | "bsd" | "bare";
/** Hash by name, as the document spells the name. `bare` has one entry, under the empty name. */
export type Checksums = ReadonlyMap<string, string>;

type Layout = { format: ListFormat; algorithm: DigestAlgorithm };

/** One space is enough: openSUSE 15.6 writes its sidecars so. */
const GNU_LINE = /^([0-9a-fA-F]{32,128}) [ *]?(\S(?:.*\S)?)$/;
const BSD_LINE = /^([A-Z0-9-]{2,16}) \(([^()]{1,255})\) = ([0-9a-fA-F]{32,128})$/;

/**
 * @param what how the document is called in the message
 * @throws VendorFault unreadable
 */
export function parseChecksums(what: string, text: string, layout: Layout): Checksums {
  if (layout.format === "bare") return bare(what, text, layout.algorithm);
  const found = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trimEnd();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const entry = layout.format === "gnu" ? gnuLine(trimmed, layout.algorithm) : bsdLine(trimmed, layout.algorithm);
    if (entry === "malformed") throw unreadable(what, `line ${index + 1} is not a ${layout.format} checksum`);
    if (entry === "other") continue;
    const before = found.get(entry.name);
    if (before !== undefined && before !== entry.hash) {
      throw new VendorFault("untrusted", `${what}: two different hashes for ${entry.name}`);
    }
    found.set(entry.name, entry.hash);
  }
  if (found.size === 0) throw unreadable(what, `no ${layout.algorithm} checksum in it`);
  return found;
}

type Line = { name: string; hash: string } | "malformed" | "other";

function gnuLine(line: string, algorithm: DigestAlgorithm): Line {
  const match = GNU_LINE.exec(line);
  if (match === null) return "malformed";
  const hash = asDigest(match[1]!, algorithm);
  return hash === null ? "malformed" : { name: match[2]!, hash };
}

function bsdLine(line: string, algorithm: DigestAlgorithm): Line {
  const match = BSD_LINE.exec(line);
  if (match === null) return "malformed";
  // One document may hold several algorithms (MD5, SHA1, SHA256) over the same names.
  if (match[1]!.toLowerCase().replace("-", "") !== algorithm) return "other";
  const hash = asDigest(match[3]!, algorithm);
  return hash === null ? "malformed" : { name: match[2]!, hash };
}

function bare(what: string, text: string, algorithm: DigestAlgorithm): Checksums {
  const hash = asDigest(text.trim(), algorithm);
  if (hash === null) throw unreadable(what, `not a ${algorithm} hash alone`);
  return new Map([["", hash]]);
}
