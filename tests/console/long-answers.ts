// Answers requests of the console in place of the server, with the first page of a list of more than 1,000 rows.
import type { Page, Route } from "playwright-core";

const ROWS = 1_000;

/** Returns the id of row `n`. */
export const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const created_at = "2026-11-01T00:00:00Z";

/**
 * Answers requests of this path with a first page of 1,000 rows. `row` returns the fields of each row. Returns a list
 * to which each request adds its query.
 */
export async function answerWith(page: Page, path: string, row: (n: number) => object): Promise<string[]> {
  const queries: string[] = [];
  await page.route((url) => url.pathname === path, (route: Route) => {
    queries.push(new URL(route.request().url()).search);
    const items = Array.from({ length: ROWS }, (_, n) => ({ id: idOf(n), created_at, ...row(n) }));
    return route.fulfill({ json: { items, next_page: "more" } });
  });
  return queries;
}
