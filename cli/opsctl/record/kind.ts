// The description of one kind of record. The verbs that kinds share (verbs.ts) come from it.
import type { Io } from "../../internal/io.ts";
import type { Column } from "../../internal/table.ts";

export type OptionText = readonly [flags: string, summary: string];

/** `R` is a row of the list: the record of the API, with the names that its columns show. */
export type Kind<R> = {
  /** Name of the kind in sentences. */
  readonly one: string;
  readonly many: string;
  /** The argument that names a record: its term and its help. */
  readonly argument: OptionText;
  /** The words after `show` in the example of help. */
  readonly sample: string;
  /** The option that selects the parent record. Without it, all parents are searched. */
  readonly parent?: {
    /** Name of the option without dashes. */
    readonly name: string;
    /** The option of `list`. */
    readonly list: OptionText;
    /** The option of the other verbs. */
    readonly find: OptionText;
    /** The words after `list` in the example of help. */
    readonly sample: string;
  };
  readonly summaries: { readonly list: string; readonly delete: string };
  readonly columns: readonly Column<R>[];
  /** Returns the labels and values that `show` prints. */
  lines(row: R): readonly (readonly [label: string, value: unknown])[];
  all(io: Io, parent: string | undefined): Promise<readonly R[]>;
  find(io: Io, name: string, parent: string | undefined): Promise<R>;
  /** The list of the API is an array. `--json` prints it so. */
  readonly is_array?: true;
  /** Returns the record as the API returns it, which data formats print. */
  record(row: R): unknown;
  /** Returns the path of the record's own routes. */
  path(row: R): string;
  /** Returns the name and the UUID, safe to print. */
  title(row: R): string;
};
