// Vendors' checksum documents: gnu ("hex  name", "hex *name"), bsd ("SHA256 (name) = hex") and bare (the hash alone). Every
// line must be what it should be, so that a cut document or an error page is refused as a whole.
import { EXIT } from "../kit/exit-code.ts";
import { Failure } from "../kit/failure.ts";
import { type Algorithm, ALGORITHMS } from "./digest.ts";

export type ListFormat = "gnu" | "bsd" | "bare";

export function isListFormat(format: string): format is ListFormat {
  return format === "gnu" || format === "bsd" || format === "bare";
}

/** Some vendors write one space. */
const GNU_LINE = /^([0-9a-fA-F]+) [ *]?(\S(?:.*\S)?)$/;
const BSD_LINE = /^([A-Z0-9-]+) \(([^()]+)\) = ([0-9a-fA-F]+)$/;
/** Some vendors' file of one hash names the file behind it. */
const BARE_LINE = /^([0-9a-fA-F]+)(?:\s+\S+)?$/;
const SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----";

export type Wanted = {
  readonly format: ListFormat;
  readonly algorithm: Algorithm;
  /** As the document spells it; null when it lists one file only. */
  readonly filename: string | null;
};

/** The hash a document lists, in lower case. Throws a Failure when it lists none, several or is something else. */
export function listedHash(where: string, document: string, wanted: Wanted): string {
  const found = new Set<string>();
  for (const line of linesOf(document)) {
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

/** Lines that say something. A clear-signed document's frame is left out: who reads it here does not rely on it. */
function linesOf(document: string): string[] {
  const lines = document.split("\n").map((line) => line.trimEnd());
  const framed = lines[0] === SIGNED
    ? lines.slice(lines.indexOf(""), lines.indexOf("-----BEGIN PGP SIGNATURE-----")).map((line) =>
      line.replace(/^- /, "")
    )
    : lines;
  return framed.filter((line) => line !== "" && !line.startsWith("#"));
}

type Entry = { name: string; hash: string } | "malformed" | "other";

function entryOf(line: string, { format, algorithm }: Wanted): Entry {
  switch (format) {
    case "gnu": {
      const [, hash = "", name = ""] = GNU_LINE.exec(line) ?? [];
      return entry(name, hash, algorithm);
    }
    case "bsd": {
      const [, label = "", name = "", hash = ""] = BSD_LINE.exec(line) ?? [];
      if (label !== "" && label.toLowerCase().replace("-", "") !== algorithm) return "other";
      return entry(name, hash, algorithm);
    }
    case "bare": {
      const [, hash = ""] = BARE_LINE.exec(line) ?? [];
      return entry("", hash, algorithm);
    }
  }
}

function entry(name: string, hash: string, algorithm: Algorithm): Entry {
  return hash.length === ALGORITHMS[algorithm] ? { name, hash: hash.toLowerCase() } : "malformed";
}
