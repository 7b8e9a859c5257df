// Describes one kind of record. The verbs that kinds share (verbs.ts) are built from this description.
import type { AnyCommand } from "../../framework.ts";
import type { Question } from "../../internal/confirmation.ts";
import type { Io } from "../../internal/io.ts";
import type { Column } from "../../internal/table.ts";

export type OptionText = readonly [flags: string, summary: string];

/** The values of the arguments and options that `selectors` adds. The parser cannot type them. */
export type Selected = {
  readonly argument: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
};

/** The rows of a list, with a note that is printed below them. */
export type Noted<R> = { readonly rows: readonly R[]; readonly note: string | null };

type Parented = {
  /**
   * The option that selects the parent record. A command line without the option searches all parents; for API keys, it
   * searches only the caller's own keys.
   */
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
};

/**
 * The description that `list` needs. `R` is a row of the table: the API's record, with the names that the columns show.
 */
export type Listing<R> = Parented & {
  /** Name of the kind in sentences. */
  readonly many: string;
  readonly summaries: { readonly list: string };
  /** The words after `list` in the example of help, for a kind without a parent. */
  readonly list_sample?: string;
  /** Adds the argument and the options of `list` that select rows. */
  readonly selectors?: (made: AnyCommand) => AnyCommand;
  /** The columns, or a function for columns that depend on the rows or need more requests. */
  readonly columns: readonly Column<R>[] | ((io: Io, rows: readonly R[]) => Promise<readonly Column<R>[]>);
  all(io: Io, parent: string | undefined, selected: Selected): Promise<readonly R[] | Noted<R>>;
  /** The API returns the list as an array, and `--json` prints this array. */
  readonly is_array?: true;
  /** Returns the record as the API returned it. Data formats print this record. */
  record(row: R): unknown;
};

/** The description that every verb for one record needs. */
type Found<R> = Parented & {
  /** Name of the kind in sentences. */
  readonly one: string;
  /** The argument that names a record: its term and its help. */
  readonly argument: OptionText;
  /** The words after a verb such as `show` in the example of help. */
  readonly sample: string;
  find(io: Io, name: string, parent: string | undefined): Promise<R>;
};

/**
 * The description that `show` needs. `lines` returns the labels and values to print. If `show` prints more than these,
 * the kind has `text` in place of `lines`.
 */
export type Showing<R> =
  & Found<R>
  & { readonly summaries: { readonly show?: string }; record(row: R): unknown }
  & ({ lines(row: R): readonly (readonly [label: string, value: unknown])[] } | { text(row: R): string });

/** The description that `delete` and `update` need. */
export type Changing<R> = Found<R> & {
  readonly summaries: { readonly delete: string };
  /** Returns what is lost with the record, safe to print. A kind without `lost` is deleted without confirmation. */
  lost?(row: R): Question;
  /** Returns the path of the record in the API. */
  path(row: R): string;
  /** Returns the name and the UUID, safe to print. */
  title(row: R): string;
};

/** A kind that has all verbs. */
export type Kind<R> = Listing<R> & Showing<R> & Changing<R>;
