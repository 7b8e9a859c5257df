// Lists all pages with their path, title, place in the navigation, key and view. The router, the navigation, the
// palette and the tests read this list.
import type { JSX } from "preact";
import { page, type PageRow } from "./core/page-row.ts";
import { malformed, match } from "./core/path.ts";
import { OPERATOR_PAGES } from "./operator/pages.tsx";
import { NotFound } from "./parts/not-found.tsx";
import { GoTo, Start } from "./start.tsx";
import { TENANT_PAGES } from "./tenant/pages.tsx";

export const PAGES: readonly PageRow[] = [
  page("/", { audience: "both", title: "Start" }, () => <Start />),
  page("/go/:text", { audience: "both", title: "Find" }, ({ text }) => <GoTo text={text} />),
  ...OPERATOR_PAGES,
  ...TENANT_PAGES,
];

/** Returns the view of a path. If no page has the path, or if a parameter is malformed, the view says so. */
export function viewAt(path: string): JSX.Element {
  for (const row of PAGES) {
    const params = match(row.path, path);
    if (params === null) continue;
    const wrong = malformed(params);
    return wrong === null ? row.view(params) : <NotFound wrong={wrong} />;
  }
  return <NotFound />;
}
