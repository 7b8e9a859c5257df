// Shows a list of any length. Only the rows in sight, and a few rows above and below them, are in the document. For
// assistive technology, the whole list is one grid: aria-rowcount gives its length, and the arrow keys move in it.
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Action, type Opening, rowActions, run } from "../core/action.ts";
import { type Cursor, followed, TOP } from "../core/cursor.ts";
import { useKeys } from "../core/keys.ts";
import { go, narrow, query } from "../core/router.ts";
import { say } from "../core/toast.ts";

export type Column<R> = {
  /** The name of the column, which is also its name in the search text: `state:failed`. */
  readonly name: string;
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /** The text that is searched and sorted when the whole list is in the page. */
  readonly text?: (row: R) => string | number | null;
  /** Whether the list can be sorted by this column. */
  readonly sorts?: boolean;
  readonly isNumeric?: boolean;
  /** Whether the column is hidden on a narrow screen. */
  readonly isWideOnly?: boolean;
  /** CSS width of the column. Columns without a width share the remaining width. */
  readonly width?: string;
};

export type ListProps<R> = {
  readonly label: string;
  /**
   * Whether the list is a part of a page with other content. The keys of such a list act only while the list has the
   * focus, so that the same keys can scroll the page. The keys of any other list act wherever the focus is.
   */
  readonly isPart?: boolean;
  readonly columns: readonly Column<R>[];
  /** Identifies the list. A list with another filter has another key, and is shown from its top. */
  readonly listKey: string;
  readonly total: number;
  readonly busy: boolean;
  readonly rowAt: (index: number) => R | undefined;
  readonly idOf: (row: R) => string;
  /** Returns the page that a row opens. If absent, rows do not open a page. */
  readonly open?: (row: R) => string;
  /** The actions of a row. Without `open`, Enter runs the first action. */
  readonly actionsOf?: (row: R) => readonly (Action | Opening)[];
  /**
   * Whether cells show their whole text, on several lines. Then rows have different heights, so all rows are in the
   * document. Set it only for short lists. On a narrow screen, the last column is below the others.
   */
  readonly isWhole?: boolean;
  readonly empty: ComponentChildren;
  /** Called with the index of the first rendered row, when this index or the list changes. */
  readonly onFirst?: (first: number) => void;
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (row: R) => void;
};

/** On a narrow screen, the style sheet shows two lines of a long text in a cell. */
const narrowScreen = matchMedia("(max-width: 700px)");
const isNarrow = signal(narrowScreen.matches);
narrowScreen.addEventListener("change", ({ matches }) => (isNarrow.value = matches));

const ROW_PX = 36;
/** The number of rows that are rendered above and below the visible rows. */
const SPARE_ROWS = 2;
const HEIGHT_PX_FIRST = 600;

export function List<R>(props: ListProps<R>) {
  const { label, columns, listKey, total, busy, rowAt, idOf, open, actionsOf, empty, onFirst, selected } = props;
  const { onSelect, isPart, isWhole } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(HEIGHT_PX_FIRST);
  const cursor = useRef<Cursor & { readonly listKey: string }>({ listKey, ...TOP });
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    if (box.current === null) return;
    const watch = new ResizeObserver(([seen]) => (height.value = seen?.contentRect.height ?? HEIGHT_PX_FIRST));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    top.value = 0;
    if (box.current !== null) box.current.scrollTop = 0;
  }, [listKey]);

  const first = isWhole === true ? 0 : Math.max(0, Math.min(total - 1, Math.floor(top.value / ROW_PX) - SPARE_ROWS));
  const last = isWhole === true ? total : Math.min(total, Math.ceil((top.value + height.value) / ROW_PX) + SPARE_ROWS);
  useEffect(() => onFirst?.(first), [first, listKey]);

  const idAt = (index: number) => {
    const row = rowAt(index);
    return row === undefined ? null : idOf(row);
  };
  const before = cursor.current.listKey === listKey ? cursor.current : TOP;
  cursor.current = { listKey, ...followed(before, total, idAt) };
  const at = cursor.current.index;
  const here = rowAt(at);

  // The header covers one row of the visible height.
  const excess = (index: number) => (index + 2) * ROW_PX - height.value;
  const isInSight = (index: number) => excess(index) <= top.value && top.value <= index * ROW_PX;
  const reveal = (index: number) => {
    if (box.current === null) return;
    if (isWhole === true) return box.current.querySelector(`#row-${index}`)?.scrollIntoView({ block: "nearest" });
    const { scrollTop } = box.current;
    box.current.scrollTop = Math.max(excess(index), Math.min(scrollTop, index * ROW_PX));
    // The event "scroll" follows later. If a row is added before it, isInSight needs the new position.
    top.value = box.current.scrollTop;
  };
  useLayoutEffect(() => {
    if (isWhole !== true && at !== before.index && isInSight(before.index)) reveal(at);
  });
  const choose = (index: number) => {
    cursor.current = { listKey, index, id: idAt(index) };
    redraw((count) => count + 1);
  };
  const move = (to: number) => {
    const index = Math.max(0, Math.min(total - 1, to));
    choose(index);
    reveal(index);
    // A list below other parts of the page may be out of sight.
    box.current?.scrollIntoView({ block: "nearest" });
  };
  const enter = () => {
    if (here === undefined) return;
    if (open !== undefined) return go(open(here));
    const [first] = actionsOf?.(here) ?? [];
    if (first !== undefined) run(first);
  };
  useLayoutEffect(() => {
    if (actionsOf !== undefined) rowActions.value = here === undefined ? [] : actionsOf(here);
  });
  useLayoutEffect(() => () => void (rowActions.value = []), []);
  const copy = () => {
    if (here === undefined) return;
    void navigator.clipboard.writeText(idOf(here)).then(
      () => say(`Copied ${idOf(here)}`),
      () => say("Copying is refused"),
    );
  };
  const page = () => {
    const rowPx = isWhole === true && box.current !== null ? box.current.scrollHeight / (total + 1) : ROW_PX;
    return Math.max(1, Math.floor(height.value / rowPx) - 2);
  };
  const hasFocus = () => box.current?.contains(document.activeElement) === true;
  useKeys({
    j: () => move(at + 1),
    ArrowDown: () => move(at + 1),
    k: () => move(at - 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + page()),
    PageUp: () => move(at - page()),
    Home: () => move(0),
    End: () => move(total - 1),
    Enter: enter,
    o: enter,
    y: copy,
    ...(onSelect !== undefined && { x: () => here !== undefined && onSelect(here) }),
  }, () => isPart !== true || hasFocus());

  const indices = Array.from({ length: Math.max(0, last - first) }, (_, n) => first + n);
  const sort = query.value.get("sort") ?? "";
  return (
    <div
      class={["list", isPart && "part", isWhole && "whole"].filter(Boolean).join(" ")}
      ref={box}
      role="region"
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
    >
      <table
        role="grid"
        aria-label={label}
        aria-rowcount={total + 1}
        aria-busy={busy}
        aria-activedescendant={total > 0 ? `row-${at}` : undefined}
      >
        <thead>
          <tr role="row" aria-rowindex={1}>
            {columns.map((column) => <Title key={column.name} column={column} sort={sort} />)}
          </tr>
        </thead>
        <tbody>
          <tr class="space" aria-hidden="true" style={{ height: `${first * ROW_PX}px` }} />
          {indices.map((index) => {
            const row = rowAt(index);
            const id = row === undefined ? null : idOf(row);
            return (
              <tr
                key={id ?? `n${index}`}
                id={`row-${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={id !== null && selected?.has(id) === true}
                class={index === at ? "at" : undefined}
                onClick={() => choose(index)}
                onDblClick={enter}
              >
                {columns.map((column) => (
                  <td key={column.name} role="gridcell" class={classOf(column)}>
                    {row === undefined
                      ? <span class="ghost" />
                      : isNarrow.value && isWhole !== true
                      ? <div>{column.cell(row)}</div>
                      : column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <tr class="space" aria-hidden="true" style={{ height: `${Math.max(0, total - last) * ROW_PX}px` }} />
        </tbody>
      </table>
      {total === 0 && <div class="empty">{busy ? <Ghosts /> : empty}</div>}
    </div>
  );
}

function Title<R>({ column, sort }: { readonly column: Column<R>; readonly sort: string }) {
  const { name, title, sorts, width } = column;
  const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
  return (
    <th
      scope="col"
      class={classOf(column)}
      style={width === undefined ? undefined : { width }}
      aria-sort={sorts === true ? direction : undefined}
    >
      {sorts === true
        ? <button type="button" onClick={() => narrow({ sort: sort === name ? `-${name}` : name })}>{title}</button>
        : title}
    </th>
  );
}

/** The number of grey rows in place of a list that is being read for the first time. */
const GHOST_ROWS = 8;
function Ghosts() {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: GHOST_ROWS }, (_, n) => (
        <p key={n} class="ghost-row">
          <span class="ghost" />
        </p>
      ))}
    </div>
  );
}

function classOf<R>({ isNumeric, isWideOnly }: Column<R>): string | undefined {
  return [isNumeric && "numeric", isWideOnly && "wide"].filter(Boolean).join(" ") || undefined;
}
