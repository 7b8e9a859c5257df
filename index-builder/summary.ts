// Returns the JSON summary of a run, for schedulers.
import type { VendorOutcome } from "./build/vendor-run.ts";
import type { Writing } from "./run.ts";
import { documentText } from "../src/lib/image-index/documents.ts";

export type Summary = { readonly outcomes: readonly VendorOutcome[]; readonly writing: Writing | null };

export function summaryText({ outcomes, writing }: Summary): string {
  return documentText({ site: writing, vendors: outcomes.map(vendorSummary) }).trimEnd();
}

function vendorSummary(outcome: VendorOutcome) {
  const { id, ok, attempts, notes } = outcome;
  const releases = outcome.ok
    ? outcome.tree.distro.releases.map((release) => ({
      id: release.id,
      aliases: release.aliases,
      builds: (outcome.tree.current.get(release.id) ?? []).map(({ build, artifacts }) => ({
        build,
        images: artifacts.length,
      })),
      archived: outcome.tree.archived.get(release.id)?.length ?? 0,
    }))
    : [];
  return { id, ok, error: outcome.ok ? null : outcome.error, attempts, releases, notes };
}
