// Finds the project whose pages are shown. The address names the project, and the navigation remembers the last
// project.
import { computed, signal } from "@preact/signals";
import { fill, malformed } from "../core/path.ts";
import { path } from "../core/router.ts";

/** A tenant and one of its projects, by UUID. */
export type Place = { readonly tenant: string; readonly project: string };

const KEPT = "place";
const kept = signal<Place | null>(stored());

/** The place in the address, or otherwise the last place that was shown. */
export const place = computed<Place | null>(() => {
  const [, tenant, project] = /^\/t\/([^/]+)\/p\/([^/]+)/.exec(path.value) ?? [];
  if (tenant === undefined || project === undefined || malformed({ tenant, project }) !== null) return kept.value;
  return { tenant, project };
});

export function keep(next: Place): void {
  kept.value = next;
  localStorage.setItem(KEPT, JSON.stringify(next));
}

/** Returns the address of a page in a project. `rest` has no slash at its start. */
export function inProject(at: Place, rest: string): string {
  return `${fill("/t/:tenant/p/:project", { ...at })}/${rest}`;
}

function stored(): Place | null {
  try {
    const value = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    return typeof value?.tenant === "string" && typeof value?.project === "string" ? value : null;
  } catch {
    return null; // The stored text is not JSON, so this page did not write it.
  }
}
