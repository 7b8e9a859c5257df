// Defines `apply`, `diff` and `export` for the manifest of a project.
import type { AnyCommand } from "../../framework.ts";
import { apply, diff, exportManifest, type ManifestVerbs } from "../../internal/manifest/verbs.ts";
import { type TenantIo, withIo, withText } from "../open-io.ts";
import { needProject } from "../scope.ts";
import { problemsOf } from "./problems.ts";
import { leftOut, readProject } from "./project.ts";
import { SCHEMA } from "./references.ts";
import { MAIN_TABLE, runPlan } from "./run.ts";
import { settle } from "./settle.ts";

const VERBS: ManifestVerbs<TenantIo> = {
  schema: SCHEMA,
  examples: { file: "-f shop.yaml", export: "--project shop" },
  withIo,
  withText,
  check: needProject,
  read: async (io, manifest) => {
    const project = await readProject(io);
    return {
      existing: project.existing,
      left_out: manifest === null ? await leftOut(io, project) : [],
      isKnown: ({ list, key }) =>
        // The server creates the main route table of a VPC together with the VPC.
        list === "images" ? project.images.has(key) : list === "route_tables" && key.endsWith(`/${MAIN_TABLE}`),
      problemsOf: (step) => problemsOf(step, { project, manifest }),
      settle: (plan) => settle(io, { plan, manifest, project }),
      run: (plan, report) => runPlan(io, plan, project, report),
    };
  },
};

export const applyProject = (summary: string): AnyCommand => apply(summary, VERBS);
export const diffProject = (summary: string): AnyCommand => diff(summary, VERBS);
export const exportProject = (summary: string): AnyCommand => exportManifest(summary, VERBS);
