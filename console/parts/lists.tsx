// Shows a list from one of two sources: windows that the server searches and sorts, or a whole list that is searched in
// the page.
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Refusal } from "../core/client.ts";
import { filterOf } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { Problem } from "./basics.tsx";
import { type Column, List, type ListProps } from "./list.tsx";
import { useQuery } from "./use-query.ts";

/** One window of a list that the server searches. */
export type Window<R> = { readonly items: readonly R[]; readonly total: number };

type Shared<R> = Omit<ListProps<R>, "listKey" | "total" | "busy" | "rowAt" | "onFirst">;

/** The number of rows in one window. Two windows always cover the rows in sight. */
const WINDOW_ROWS = 100;

export function WindowedList<R>({ windows, ...shared }: Shared<R> & {
  readonly windows: (offset: number, limit: number) => Query<Window<R>>;
}) {
  const page = useSignal(0);
  const a = useQuery(windows(page.value * WINDOW_ROWS, WINDOW_ROWS));
  const b = useQuery(windows((page.value + 1) * WINDOW_ROWS, WINDOW_ROWS));
  const listKey = windows(0, WINDOW_ROWS).key;
  // While a window is read, the list keeps its length, so that the scroll bar does not jump.
  const known = useRef({ listKey, total: 0 });
  if (known.current.listKey !== listKey) known.current = { listKey, total: 0 };
  const total = known.current.total = a.data?.total ?? b.data?.total ?? known.current.total;
  const refusal = a.refusal ?? b.refusal;
  if (refusal !== undefined && a.data === undefined && total === 0) return <Problem refusal={refusal} />;
  return (
    <>
      {refusal !== undefined && <Problem refusal={refusal} isLate />}
      <List
        {...shared}
        listKey={listKey}
        total={total}
        busy={a.busy}
        rowAt={(index) => {
          const offset = index - page.value * WINDOW_ROWS;
          return offset < WINDOW_ROWS ? a.data?.items[offset] : b.data?.items[offset - WINDOW_ROWS];
        }}
        onFirst={(first) => (page.value = Math.floor(first / WINDOW_ROWS))}
      />
    </>
  );
}

type Whole<R> = Shared<R> & {
  /** Returns whether to show a row, for example if it fits a filter above the list. */
  readonly keep?: (row: R) => boolean;
  /**
   * The part of the search text that the server did not use. The page searches its rows for this part. Default: the
   * whole text.
   */
  readonly rest?: string;
};

export function WholeList<R>({ query, ...shared }: Whole<R> & { readonly query: Query<readonly R[]> }) {
  const { data, busy, refusal } = useQuery(query);
  return <RowList {...shared} listKey={query.key} rows={data} busy={busy} refusal={refusal} />;
}

/** A whole list whose rows the page has read. */
export function RowList<R>({ rows: data, listKey, busy, refusal, keep, rest, ...shared }: Whole<R> & {
  readonly rows: readonly R[] | undefined;
  readonly listKey: string;
  readonly busy: boolean;
  readonly refusal: Refusal | undefined;
}) {
  const q = urlQuery.value.get("q") ?? "";
  const sort = urlQuery.value.get("sort") ?? "";
  const rows = useMemo(
    () =>
      sorted(
        (data ?? []).filter((row) => keep?.(row) ?? true).filter(matching(rest ?? q, shared)),
        sort,
        shared.columns,
      ),
    [data, q, rest, sort, keep, shared.columns],
  );
  if (refusal !== undefined && data === undefined) return <Problem refusal={refusal} />;
  return (
    <>
      {refusal !== undefined && <Problem refusal={refusal} isLate />}
      <List
        {...shared}
        listKey={`${listKey} ${q} ${sort}`}
        total={rows.length}
        busy={busy}
        rowAt={(index) => rows[index]}
      />
    </>
  );
}

function matching<R>(q: string, { columns, idOf }: Pick<Shared<R>, "columns" | "idOf">): (row: R) => boolean {
  const filter = filterOf(q);
  return (row) =>
    q === "" ||
    filter(Object.fromEntries(columns.map(({ name, text }) => [name, String(text?.(row) ?? "")])), idOf(row));
}

function sorted<R>(rows: readonly R[], sort: string, columns: readonly Column<R>[]): readonly R[] {
  const text = columns.find(({ name }) => name === sort.replace(/^-/, ""))?.text;
  if (text === undefined) return rows;
  const direction = sort.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => direction * compared(text(a), text(b)));
}

function compared(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}
