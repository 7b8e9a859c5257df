// Lists all pages with their path, title, place in the navigation, key and view. The router, the navigation, the
// palette and the tests read this list.
import type { JSX } from "preact";
import { page, type PageRow } from "./core/page-row.ts";
import { match } from "./core/path.ts";
import { OPERATOR_PAGES } from "./operator/pages.tsx";
import { GoTo, Start } from "./start.tsx";
import { TENANT_PAGES } from "./tenant/pages.tsx";

export const PAGES: readonly PageRow[] = [
  page("/", { audience: "both", title: "Start" }, () => <Start />),
  page("/go/:text", { audience: "both", title: "Find" }, ({ text }) => <GoTo text={text} />),
  ...OPERATOR_PAGES,
  ...TENANT_PAGES,
];

/** Returns the page of a path with its view, or null. */
export function pageAt(path: string): { readonly row: PageRow; readonly view: () => JSX.Element } | null {
  for (const row of PAGES) {
    const params = match(row.path, path);
    if (params !== null) return { row, view: () => row.view(params) };
  }
  return null;
}
