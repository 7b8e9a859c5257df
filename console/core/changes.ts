// Keeps the data on screen up to date with the server's change feed. If the server has no feed, the page reads the data
// again every 5 s. A hidden tab sends no requests. When the user shows the tab again, the page checks who is signed in,
// and the feed starts again. At each start of the feed, the page reads all data again.
import { signal } from "@preact/signals";
import { type Changes, follow, type Link } from "./change-feed.ts";
import { get } from "./client.ts";
import { checkUser, session } from "./session.ts";
import type { Store } from "./store.ts";

export const link = signal<Link>("paused");

/** Without the feed, everything on screen is read again after this time, in milliseconds. */
const POLL_MS = 5_000;
const TICK_MS = 1_000;

/** Starts following, and returns the function that stops it. */
export function followChanges(store: Store): () => void {
  let following = new AbortController();
  let isStopped = false;
  const start = () => {
    following.abort();
    following = new AbortController();
    if (document.visibilityState === "hidden") {
      link.value = "paused";
      return;
    }
    void follow({
      read: (query, ended) => get<Changes>("/v1/changes", query, ended),
      changed: (kinds) => {
        if (kinds === "all") checkUser().catch(() => {});
        store.changed(kinds);
      },
      pause: (ms) => new Promise((wake) => setTimeout(wake, ms)),
      show: (state) => (link.value = state),
    }, following.signal);
  };
  const onVisibility = async () => {
    if (document.visibilityState === "visible") {
      await checkUser().catch(() => {});
      if (isStopped || session.peek() !== "in") return;
    }
    start();
  };
  const tick = setInterval(() => {
    if (document.visibilityState === "visible") store.refresh(link.value === "polling" ? POLL_MS : Infinity);
  }, TICK_MS);
  document.addEventListener("visibilitychange", onVisibility);
  start();
  return () => {
    isStopped = true;
    following.abort();
    clearInterval(tick);
    document.removeEventListener("visibilitychange", onVisibility);
  };
}
