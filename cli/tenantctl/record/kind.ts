// The description of one kind of record for the verbs that all kinds share.
import type { Column } from "../../internal/table.ts";
import type { Named } from "./pick.ts";

export type KindScope = {
  /** Noun on the command line. */
  readonly noun: string;
  /** Name in sentences. */
  readonly singular: string;
  readonly plural: string;
  readonly path: string;
  /** The record that contains it, which selects its list. */
  readonly parent: "project" | "vpc" | "route-table" | "instance";
  /** The server checks `project=` of its list against the VPC's project. */
  readonly sends_project?: true;
  /** Its list requires --vpc before any request. */
  readonly needs_vpc?: true;
};

export type Kind<T extends Named> = KindScope & {
  /** First word of the line that delete prints. */
  readonly title: string;
  readonly columns: readonly Column<T>[];
  lines(record: T): readonly (readonly [label: string, value: unknown])[];
};

/** `an instance`, `a NAT gateway`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
