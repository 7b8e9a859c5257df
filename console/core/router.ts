// The address (a path below /console, and a query) alone determines the page. So every view has a link.
import { computed, signal } from "@preact/signals";
import { narrowed } from "./path.ts";

/** The path under which the server serves the console. */
export const BASE = "/console";

const location_ = signal(location.pathname + location.search);
addEventListener("popstate", () => (location_.value = location.pathname + location.search));

export const path = computed(() => {
  const [whole = ""] = location_.value.split("?");
  return whole.slice(BASE.length).split("/").filter((part) => part !== "").map((part) => `/${part}`).join("") || "/";
});
export const query = computed(() => new URLSearchParams(location_.value.split("?")[1] ?? ""));

/** The question before the user leaves a page with unsaved input; null while there is no such input. */
let leaveQuestion: string | null = null;

export function askBeforeLeaving(question: string | null): void {
  leaveQuestion = question;
}

/** Shows another page. `to` is a path below /console, with its query. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  const isOtherPage = to.split("?")[0] !== path.value;
  if (isOtherPage && leaveQuestion !== null && !confirm(leaveQuestion)) return;
  if (isOtherPage) leaveQuestion = null;
  history[how === "push" ? "pushState" : "replaceState"](null, "", BASE + to);
  location_.value = BASE + to;
}

/** Sets or clears keys of the query and stays on the page. */
export function narrow(keys: Readonly<Record<string, string | undefined>>): void {
  const text = narrowed(query.value, keys).toString();
  go(path.value + (text && `?${text}`), "replace");
}
