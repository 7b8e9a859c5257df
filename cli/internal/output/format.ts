// Defines the output formats of every command. The front page lists the formats and must load fast, so this file
// imports nothing.

export const FORMATS = ["table", "wide", "json", "yaml", "name", "csv"] as const;
const JSONPATH = "jsonpath=";
/** The values of `-o` that help and completion list. */
export const FORMAT_CHOICES = [...FORMATS, JSONPATH] as const;

export type Format = { readonly kind: (typeof FORMATS)[number] } | { readonly kind: "jsonpath"; readonly path: string };

/** Returns null if the text names no format. */
export function formatOf(text: string): Format | null {
  if (text.startsWith(JSONPATH)) return { kind: "jsonpath", path: text.slice(JSONPATH.length) };
  const kind = FORMATS.find((each) => each === text);
  return kind === undefined ? null : { kind };
}

/** The options that control the output of a command. Only lists have the options of ListFlags. */
export type OutputFlags = ListFlags & {
  readonly output?: string;
  /**
   * True with --json, which prints the answer as the server sent it. `-o json` prints every list as `{"items": [...]}`.
   */
  readonly json?: boolean;
  /** False with --no-headers. */
  readonly headers?: boolean;
  readonly quiet?: boolean;
};
export type ListFlags = {
  readonly columns?: string;
  readonly sortBy?: string;
  readonly filter?: string;
  readonly watch?: boolean;
};

/** The output options of both programs on their front page. */
export const OUTPUT_OPTIONS = {
  no_headers: { flags: "--no-headers", summary: "print tables and CSV without the header line" },
  quiet: { flags: "-q, --quiet", summary: "print only ids, and no notes or progress" },
} as const;

/** Returns whether the command line, not parsed yet, asks for JSON or YAML. Failures are then printed as JSON. */
export function wantsData(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.some((word, index) => {
    if (word === "--json") return true;
    const value = word === "-o" || word === "--output" ? flags[index + 1] : /^(?:-o|--output=)(.+)$/.exec(word)?.[1];
    return value === "json" || value === "yaml";
  });
}
