// Loads the code of further pages while the browser is idle, so that these pages open without a wait. The first load
// stays small, and the terminal and the charts are still loaded only when they are needed.

/** The wait in a browser without idle callbacks, in milliseconds. The first page is normally on screen by then. */
const WAIT_MS = 2_000;

/** Loads the pages of tenants. For an operator, first loads the pages that only operators may open. */
export function preloadPages(isOperator: boolean): void {
  whenIdle(async () => {
    if (isOperator) await import("./operator/more-pages.ts");
    await Promise.all([import("./tenant/more-pages.ts"), import("./operator/audit.tsx")]);
  });
}

/**
 * If a page cannot be loaded now, it is loaded when the user opens it. If that load fails too, the page shows the
 * failure.
 */
function whenIdle(load: () => Promise<unknown>): void {
  const begin = () => void load().catch(() => {});
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "function") requestIdleCallback(begin);
  else setTimeout(begin, WAIT_MS);
}
