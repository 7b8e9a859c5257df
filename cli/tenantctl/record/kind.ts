// Describes one kind of record for the verbs that all kinds share.
import { labelLines } from "../../internal/labels.ts";
import type { Column } from "../../internal/table.ts";
import type { Named } from "./pick.ts";

export type KindScope = {
  /** Name of the kind on the command line. */
  readonly noun: string;
  /** Name of the kind in sentences. */
  readonly singular: string;
  readonly plural: string;
  readonly path: string;
  /** Name of a record in the examples of help. */
  readonly sample: string;
  /** The kind of record that contains records of this kind. A request for a list names the parent record. */
  readonly parent: "project" | "vpc" | "route-table" | "instance";
  /** Requests for lists of this kind also send `project=`, and the server checks that this is the VPC's project. */
  readonly sends_project?: true;
  /** `delete` can wait until all nodes of the VPC have applied the deletion. */
  readonly waits?: true;
  /** Records of this kind have labels, by which lists are filtered. */
  readonly has_labels?: true;
};

export type Kind<T extends Named> = KindScope & {
  /** Name of the kind at the start of the line that `delete` prints. */
  readonly title: string;
  readonly columns: readonly Column<T>[];
  lines(record: T): readonly (readonly [label: string, value: unknown])[];
};

type Labeled = { readonly labels?: Readonly<Record<string, string>> };

/** Returns the lines that show and update print: the lines of the kind, and the labels if the record has any. */
export function linesOf<T extends Named>(kind: Kind<T>, record: T): ReturnType<Kind<T>["lines"]> {
  return kind.has_labels ? [...kind.lines(record), ...labelLines((record as Labeled).labels)] : kind.lines(record);
}

/** Returns the noun with its article: `an instance`, `a NAT gateway`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
