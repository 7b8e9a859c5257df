// Shows a page with one list: the heading, the actions, the search, the list, and the command line that prints the
// list.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { type Action, type Opening, useActions } from "../core/action.ts";
import { serverWords } from "../core/filter.ts";
import { useKeys } from "../core/keys.ts";
import { fill } from "../core/path.ts";
import { narrow, query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { counted, words } from "../core/text.ts";
import { Actions } from "./actions.tsx";
import { AsCommand, Heading, Link } from "./basics.tsx";
import type { Column } from "./list.tsx";
import { WholeList } from "./lists.tsx";
import { useQuery } from "./use-query.ts";

type Props<R> = {
  readonly title: string;
  /** The noun for one row, used with counts: "job". */
  readonly noun: string;
  readonly query: Query<readonly R[]>;
  /** The maximum number of rows that the query reads, and which rows these are. Absent if the query reads all rows. */
  readonly limit?: {
    readonly rows: number;
    readonly which: "newest" | "oldest" | "first";
    /** Explains how the user finds further rows. It is shown if the list may have more rows. */
    readonly others?: ComponentChildren;
  };
  /**
   * The part of the search text that the query did not use. The page searches its rows for this part. Default: the
   * whole text.
   */
  readonly rest?: string;
  readonly columns: readonly Column<R>[];
  readonly idOf: (row: R) => string;
  readonly open?: (row: R) => string;
  readonly actionsOf?: (row: R) => readonly (Action | Opening)[];
  readonly actions?: readonly Action[];
  readonly states?: readonly string[];
  readonly stateOf?: (row: R) => string;
  readonly isWhole?: boolean;
  readonly empty: ComponentChildren;
  readonly cli: string;
  /** More buttons, shown beside the buttons of the actions. */
  readonly buttons?: ComponentChildren;
  readonly children?: ComponentChildren;
};

export function ListPage<R>(props: Props<R>) {
  const {
    title,
    noun,
    query,
    limit,
    columns,
    idOf,
    open,
    actionsOf,
    actions = [],
    states,
    stateOf,
    isWhole = false,
    empty,
    cli,
    buttons,
  } = props;
  useActions(actions);
  const { data } = useQuery(query);
  const state = urlQuery.value.get("state") ?? "";
  const q = urlQuery.value.get("q") ?? "";
  const rest = props.rest ?? q;
  const isNarrowed = state !== "" || q !== "";
  /** Whether the query has narrowed the rows. Then other rows may exist even if the answer has no rows. */
  const isNarrowedByQuery = rest !== q || (state !== "" && stateOf === undefined);
  const none = (
    <>
      <p>No {noun} matches.</p>
      <button type="button" onClick={() => narrow({ q: undefined, state: undefined })}>Show all</button>
    </>
  );
  return (
    <>
      <Heading title={title}>
        <p class="count">
          {data === undefined
            ? ""
            : `${data.length === limit?.rows ? `the ${limit.which} ` : ""}${counted(data.length, noun)}`}
        </p>
        <div class="actions">
          {buttons}
          <Actions />
        </div>
      </Heading>
      {props.children}
      {limit?.others !== undefined && data?.length === limit.rows && (
        <p class="hint">
          The list shows the {limit.which} {counted(limit.rows, noun)}. {rest !== "" &&
            `Only the ${limit.which} ${limit.rows.toLocaleString("en")} are searched. `}
          {limit.others}
        </p>
      )}
      <Filters label={title} states={states} />
      <WholeList
        label={title}
        columns={columns}
        query={query}
        idOf={idOf}
        isWhole={isWhole}
        {...(open !== undefined && { open })}
        {...(actionsOf !== undefined && { actionsOf })}
        {...(state !== "" && stateOf !== undefined && { keep: (row: R) => stateOf(row) === state })}
        rest={rest}
        empty={isNarrowed && (isNarrowedByQuery || (data?.length ?? 0) > 0) ? none : empty}
      />
      <AsCommand line={cli} />
    </>
  );
}

/**
 * Links to a search of all objects with the words of a filter. The search does not know the fields of the list, so the
 * link omits parts such as `state:failed`.
 */
export function SearchAll({ text, fields }: { readonly text: string; readonly fields: readonly string[] }) {
  const words = serverWords(text, fields);
  if (words === "") return <>Enter a part of a name to search for others.</>;
  return <Link to={fill("/go/:text", { text: words })}>Search all objects for “{words}”</Link>;
}

/** The search text and the state of a list, both in the address of the page. */
export function Filters({ label, states, hint = "Filter", name = "q" }: {
  readonly label: string;
  readonly states?: readonly string[] | undefined;
  readonly hint?: string;
  /** The key of the search text in the address. A list that is searched in the page uses "q". */
  readonly name?: string;
}) {
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const { [name]: text = "", state = "" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  return (
    <div class="filters" role="search">
      <input
        ref={search}
        type="search"
        aria-label={`Filter ${label.toLowerCase()}`}
        aria-keyshortcuts="/"
        placeholder={`${hint}   /`}
        value={text}
        onInput={(event) => narrow({ [name]: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Escape" && event.key !== "Enter") return;
          event.currentTarget.blur();
          document.querySelector<HTMLElement>("main .list.part")?.focus();
        }}
      />
      {states !== undefined && (
        <select
          aria-label="State"
          value={state}
          onChange={(event) => narrow({ state: event.currentTarget.value })}
        >
          <option value="">any state</option>
          {states.map((each) => <option key={each} value={each}>{words(each)}</option>)}
        </select>
      )}
    </div>
  );
}
