// Defines `apply`, `diff` and `export` for the manifest of a project.
import { ROUTE_TARGET_KINDS } from "../../../src/contract/enums.ts";
import type { AnyCommand } from "../../framework.ts";
import { apply, diff, exportManifest, type ManifestVerbs } from "../../internal/manifest/verbs.ts";
import { type TenantIo, withIo, withText } from "../open-io.ts";
import { needProject } from "../scope.ts";
import { leftOut, readProject } from "./project.ts";
import { SCHEMA } from "./references.ts";
import { MAIN_TABLE, runPlan } from "./run.ts";

/** The field of a target that names its record, by the target's kind. Other kinds have no field. */
const TARGET_FIELDS: Readonly<Record<string, string>> = { nat_gateway: "nat_gateway", floating_ip: "floating_ip" };

/** Returns why the server would refuse the target of a route. The reader has checked that it is an object. */
function targetProblems(key: string, target: unknown): string[] {
  const { kind, ...rest } = target as Record<string, unknown>;
  if (!ROUTE_TARGET_KINDS.some((each) => each === kind)) {
    return [`route ${key}: the kind of the target must be one of ${ROUTE_TARGET_KINDS.join(", ")}`];
  }
  const wanted = TARGET_FIELDS[String(kind)];
  if (wanted !== undefined && typeof rest[wanted] !== "string") {
    return [`route ${key}: a target of the kind ${kind} must have the field ${wanted}`];
  }
  return Object.keys(rest).filter((field) => field !== wanted)
    .map((field) => `route ${key}: a target of the kind ${kind} has no field ${field}`);
}

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
      problemsOf: ({ list, key, values }) => {
        if (list === "routes") return targetProblems(key, values.target);
        const ids = project.shared_names.get(String(values.image));
        return list !== "instances" || ids === undefined ? [] : [
          `instance ${key}: ${ids.length} images have the name ${values.image} (${ids.join(", ")}); ` +
          `create the instance with \`tenantctl instance create --image ID\`, or rename an image`,
        ];
      },
      run: (plan, report) => runPlan(io, plan, project, report),
    };
  },
};

export const applyProject = (summary: string): AnyCommand => apply(summary, VERBS);
export const diffProject = (summary: string): AnyCommand => diff(summary, VERBS);
export const exportProject = (summary: string): AnyCommand => exportManifest(summary, VERBS);
