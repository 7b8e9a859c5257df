// Defines `apply`, `diff` and `export` for the manifest of a site: silos, tenants, projects, quotas, external networks,
// settings and the boot policy.
import type { AnyCommand } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { apply, diff, exportManifest, type ManifestVerbs } from "../../internal/manifest/verbs.ts";
import { withIo } from "../../internal/run.ts";
import { DEFAULT_TENANT, SITE } from "./kinds.ts";
import { runSitePlan } from "./run.ts";
import { readSite } from "./site.ts";

const VERBS: ManifestVerbs<Io> = {
  schema: SITE,
  examples: { file: "-f site.yaml", export: "" },
  withIo,
  withText: withIo,
  check: () => {},
  read: async (io, manifest, prune) => {
    const named = new Set(manifest?.entries.map(({ values }) => values.silo));
    const existing = await readSite(io, {
      wants: (list) => manifest === null || manifest.lists.has(list),
      wantsSilo: (name) => manifest === null || prune || named.has(name),
    });
    const overridden = existing.filter(({ no_effect }) => no_effect !== undefined).map(({ key }) => key);
    return {
      existing,
      left_out: overridden.length === 0
        ? []
        : [`settings ${overridden.join(", ")}, which environment variables of the server override`],
      // The server creates the default tenant of a silo together with the silo.
      isKnown: ({ list, key }) => list === "tenants" && key.endsWith(`/${DEFAULT_TENANT}`),
      run: (plan, report) => runSitePlan(io, plan, existing, report),
    };
  },
};

export const applySite = (summary: string): AnyCommand => apply(summary, VERBS);
export const diffSite = (summary: string): AnyCommand => diff(summary, VERBS);
export const exportSite = (summary: string): AnyCommand => exportManifest(summary, VERBS);
