// What the verbs that families of records share need to know of one family.
import type { Column } from "../../internal/table.ts";
import type { Named } from "./pick.ts";

export type KindPlace = {
  /** Its word on the command line. */
  readonly noun: string;
  /** How sentences call it. */
  readonly argv: string;
  readonly plural: string;
  readonly path: string;
  /** What its list is of. */
  readonly parent: "project" | "vpc" | "route-table" | "instance";
  /** Document 3, Networking rules: whether its list compares `project=` with the project of the VPC. */
  readonly sends_project?: true;
  /** Document 3, Tenant CLI: whether its list insists on --vpc before it asks the server. */
  readonly needs_vpc?: true;
};

export type Kind<T extends Named> = KindPlace & {
  /** How the line of a delete begins (document 3, CLI output). */
  readonly title: string;
  readonly columns: readonly Column<T>[];
  lines(record: T): readonly (readonly [label: string, value: unknown])[];
};

/** `an instance`, `a NAT gateway`. */
export function withArticle(argv: string): string {
  return `${/^[aeio]/.test(argv) ? "an" : "a"} ${argv}`;
}
