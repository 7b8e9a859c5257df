// Defines one row of the table of pages.
import type { JSX } from "preact";
import type { Params } from "./path.ts";

export type PageRow = {
  /** The pattern below /console, such as "/nodes/:id". */
  readonly path: string;
  readonly title: string;
  /** The users that the page is for. */
  readonly audience: "operator" | "tenant" | "both";
  /** The group in the navigation. A page without a group is not in the navigation; other pages link to it. */
  readonly group?: string;
  /** The key after `g` that opens the page. */
  readonly key?: string;
  readonly view: (params: Readonly<Record<string, string>>) => JSX.Element;
};

type Described = Omit<PageRow, "path" | "view">;

/** Returns a row. The type of its view's parameters comes from the names in the path. */
export function page<P extends string>(
  path: P,
  described: Described,
  view: (params: Params<P>) => JSX.Element,
): PageRow {
  // `match` (path.ts) returns exactly one value for each name in this pattern.
  return { path, ...described, view: (params) => view(params as Params<P>) };
}
