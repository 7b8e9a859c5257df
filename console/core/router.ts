// The address (a path below /console, and a query) alone determines the page. So every view has a link.
import { computed, signal } from "@preact/signals";
import { narrowed } from "./path.ts";

/** The path under which the server serves the console. */
export const BASE = "/console";

const location_ = signal(location.pathname + location.search);

export const path = computed(() => pathOf(location_.value));
export const query = computed(() => new URLSearchParams(location_.value.split("?")[1] ?? ""));

/** Returns the path below /console of an address, without the query. */
function pathOf(address: string): string {
  const [whole = ""] = address.split("?");
  return whole.slice(BASE.length).split("/").filter((part) => part !== "").map((part) => `/${part}`).join("") || "/";
}

/** The questions before the user leaves the page, by the owner of the unsaved input. */
const leaveQuestions = new Map<string, string>();

/** Sets the question for a form or another owner of unsaved input. Null removes the question. */
export function askBeforeLeaving(owner: string, question: string | null): void {
  if (question === null) leaveQuestions.delete(owner);
  else leaveQuestions.set(owner, question);
}

/**
 * Returns whether the page of an address may be shown. If the address leads to another page and this page has unsaved
 * input, the user decides.
 */
function mayShow(address: string): boolean {
  if (pathOf(address) === path.peek()) return true;
  const [question] = leaveQuestions.values();
  if (question !== undefined && !confirm(question)) return false;
  leaveQuestions.clear();
  return true;
}

addEventListener("popstate", () => {
  const address = location.pathname + location.search;
  if (mayShow(address)) location_.value = address;
  // The browser has already changed the address, so the page sets its own address again.
  else history.pushState(null, "", location_.peek());
});
addEventListener("beforeunload", (event) => {
  if (leaveQuestions.size > 0) event.preventDefault();
});

/** Shows another page. `to` is a path below /console, with its query. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (!mayShow(BASE + to)) return;
  history[how === "push" ? "pushState" : "replaceState"](null, "", BASE + to);
  location_.value = BASE + to;
}

/** Sets or clears keys of the query and stays on the page. */
export function narrow(keys: Readonly<Record<string, string | undefined>>): void {
  const text = narrowed(query.value, keys).toString();
  go(path.value + (text && `?${text}`), "replace");
}
