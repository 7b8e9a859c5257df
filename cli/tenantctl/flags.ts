// The global flags, accepted before or after any subcommand.
import type { Globals } from "../internal/connection.ts";

export const FORMATS = ["table", "wide", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

export type Flags = Pick<Globals, "endpoint" | "apiKey" | "json"> & {
  readonly tenant?: string;
  readonly project?: string;
  readonly output?: Format;
  /** False with --no-headers. */
  readonly headers?: boolean;
};

/** Returns whether the command line, not parsed yet, asks for JSON or YAML. Failures are then printed as JSON. */
export function wantsData(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.some((word, index) => {
    const value = word === "-o" || word === "--output" ? flags[index + 1] : /^(?:-o|--output=)(.+)$/.exec(word)?.[1];
    return value === "json" || value === "yaml";
  });
}
