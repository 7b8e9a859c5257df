// Loads the code of further pages while the browser is idle, so that these pages open without a wait. The first load
// stays small, and the terminal and the charts are still loaded only when they are needed.

/** The wait in a browser without idle callbacks, in milliseconds. The first page is normally on screen by then. */
const WAIT_MS = 2_000;

/** Loads the pages of tenants. For an operator, first loads the pages that only operators may open. */
export function preloadPages(isOperator: boolean): void {
  whenIdle(async () => {
    if (isOperator) {
      await fetchFiles("operator");
      await import("./operator/more-pages.ts");
    }
    await fetchFiles("tenant");
    await Promise.all([import("./tenant/more-pages.ts"), import("./operator/audit.tsx")]);
  });
}

/**
 * Puts the files that index.html names into the browser's cache. Throws if one of them cannot be loaded. Older
 * browsers do not repeat a failed import until the page is reloaded (https://github.com/whatwg/html/pull/10327), so the
 * files are imported only after they are in the cache.
 */
async function fetchFiles(name: "operator" | "tenant"): Promise<void> {
  const files = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
  await Promise.all(
    files.split(" ").map(async (file) => {
      const response = await fetch(`/console/${file}`);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${file}: ${response.status}`);
    }),
  );
}

/** If a file cannot be loaded now, the pages in it are loaded when the user opens one of them. */
function whenIdle(load: () => Promise<unknown>): void {
  const begin = () => void load().catch(() => {});
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "function") requestIdleCallback(begin);
  else setTimeout(begin, WAIT_MS);
}
