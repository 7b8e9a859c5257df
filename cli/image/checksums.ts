// What a vendor's checksum document says of one file. Every line must be what it should be, so that a cut document or an
// error page is refused as a whole.
import { type ChecksumLine, checksumLine, isSilentLine, type ListFormat } from "../../src/lib/crypto/checksum-line.ts";
import { CLEAR_SIGNED_BEGIN, clearSignedText } from "../../src/lib/openpgp/clear-signed.ts";
import { asDigest, type DigestAlgorithm } from "../../src/lib/crypto/digest-hex.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export function isListFormat(format: string): format is ListFormat {
  return format === "gnu" || format === "bsd" || format === "bare";
}

/** Some vendors' file of one hash names the file behind it. */
const BARE_LINE = /^([0-9a-fA-F]+)(?:\s+\S+)?$/;

export type Wanted = {
  readonly format: ListFormat;
  readonly algorithm: DigestAlgorithm;
  /** As the document spells it; null when it lists one file only. */
  readonly filename: string | null;
};

/** The hash a document lists, in lower case. Throws a Failure when it lists none, several or is something else. */
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
  if (hash === undefined) throw new Failure(`${where} lists no ${wanted.algorithm} of ${name}`, EXIT.failure);
  if (second !== undefined) throw new Failure(`${where} lists several hashes of ${name}`, EXIT.failure);
  return hash;
}

/** Lines that say something. Of a clear-signed document those inside its frame, whoever signed it. */
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
