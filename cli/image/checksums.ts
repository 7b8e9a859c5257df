// Finds the hash of one file in a vendor's checksum document. A line must have the expected format, be a comment, or be
// blank. If any other line occurs, for example a truncated line or a line of an error page, the whole document is
// refused. A document in the format `bsd` may also have hashes of other algorithms.
import { type ChecksumLine, checksumLine, isSilentLine, type ListFormat } from "../../src/lib/crypto/checksum-line.ts";
import { CLEAR_SIGNED_BEGIN, clearSignedText } from "../../src/lib/openpgp/clear-signed.ts";
import { asDigest, type DigestAlgorithm } from "../../src/lib/crypto/digest-hex.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

/** A line with one hash; some vendors add the name of the file. */
const BARE_LINE = /^([0-9a-fA-F]+)(?:\s+\S+)?$/;

export type Wanted = {
  readonly format: ListFormat;
  readonly algorithm: DigestAlgorithm;
  /** Name of the wanted file in the document; null when the document lists one file only. */
  readonly filename: string | null;
};

/**
 * Returns the listed hash in lower case. Throws a Failure if the document has no hash or several different hashes of
 * the file, or another format.
 */
export function listedHash(where: string, document: string, wanted: Wanted): string {
  const found = new Set<string>();
  for (const line of linesOf(where, document)) {
    const entry = entryOf(line, wanted);
    if (entry === "malformed") throw new Failure(`${where} is not a ${wanted.format} checksum document`, EXIT.failure);
    if (entry === "other") continue;
    if (wanted.filename === null || entry.name === wanted.filename) found.add(entry.hash);
  }
  const [hash, second] = found;
  const name = wanted.filename ?? "one file";
  if (hash === undefined) throw new Failure(`${where} has no ${wanted.algorithm} hash of ${name}`, EXIT.failure);
  if (second !== undefined) throw new Failure(`${where} has several hashes of ${name}`, EXIT.failure);
  return hash;
}

/**
 * Returns the lines, without comments and blank lines. For a clear-signed document, returns the signed lines without
 * checking the signature.
 */
function linesOf(where: string, document: string): string[] {
  const text = document.startsWith(CLEAR_SIGNED_BEGIN) ? unframed(where, document) : document;
  return text.split("\n").map((line) => line.trimEnd()).filter((line) => !isSilentLine(line));
}

function unframed(where: string, document: string): string {
  try {
    return clearSignedText(document);
  } catch (error) {
    throw new Failure(`${where}: ${(error as Error).message}`, EXIT.failure);
  }
}

function entryOf(line: string, { format, algorithm }: Wanted): ChecksumLine {
  if (format !== "bare") return checksumLine(line, format, algorithm);
  const hash = asDigest(BARE_LINE.exec(line)?.[1] ?? "", algorithm);
  return hash === null ? "malformed" : { name: "", hash };
}
