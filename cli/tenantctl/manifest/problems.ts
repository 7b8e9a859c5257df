// Finds steps that the server would refuse, and names that are ambiguous, so that the command fails before it changes
// anything.
import { ROUTE_TARGET_KINDS } from "../../../src/contract/enums.ts";
import type { Entry } from "../../internal/manifest/kind.ts";
import type { EntryStep } from "../../internal/manifest/plan.ts";
import type { Manifest } from "../../internal/manifest/read.ts";
import { FIRST_NIC } from "../nic/nic.ts";
import { collisions } from "./collisions.ts";
import type { Project } from "./project.ts";
import { MAIN_TABLE } from "./run.ts";

type Values = Entry["values"];
type Given = { readonly project: Project; readonly manifest: Manifest | null };

/** Returns why the step cannot be applied. */
export function problemsOf(step: EntryStep, given: Given): string[] {
  const { kind, entry } = step;
  const problems = problemsIn(entry, kind === "create", given);
  return [...problems, ...collisions(step, given.project.existing, given.manifest)].map((why) =>
    `${entry.kind.singular} ${entry.key}: ${why}`
  );
}

function problemsIn({ list, values }: Entry, is_new: boolean, given: Given): string[] {
  switch (list) {
    case "routes":
      return targetProblems(values.target);
    case "subnets":
      return values.route_table !== null
        ? []
        : [`route_table must be the name of a route table; the first one of a VPC is ${MAIN_TABLE}`];
    case "nat_gateways":
      return sourceProblems(values);
    case "floating_ips":
      return holderProblems(values.attached_to, given);
    case "instances":
      return is_new ? [...imageProblems(values, given), ...nicProblems(values)] : [];
    default:
      return [];
  }
}

function sourceProblems({ network_id, pool_id }: Values): string[] {
  const set = [network_id, pool_id].filter((value) => value !== undefined && value !== null);
  return set.length > 1 ? ["set at most one of network_id and pool_id"] : [];
}

/** The kinds of targets that a route can have. The server refuses the API's kind `floating_ip`. */
const TARGET_KINDS = ROUTE_TARGET_KINDS.filter((kind) => kind !== "floating_ip");
/** The field of a target that names its record, by the target's kind. Other kinds have no field. */
const TARGET_FIELDS: Readonly<Record<string, string>> = { nat_gateway: "nat_gateway" };

function targetProblems(target: unknown): string[] {
  // parseManifest has checked that the target is an object.
  const { kind, ...rest } = target as Values;
  if (!TARGET_KINDS.some((each) => each === kind)) {
    return [`the kind of the target must be one of ${TARGET_KINDS.join(", ")}`];
  }
  const wanted = TARGET_FIELDS[String(kind)];
  if (wanted !== undefined && typeof rest[wanted] !== "string") {
    return [`a target of the kind ${kind} must have the field ${wanted}`];
  }
  return Object.keys(rest).filter((field) => field !== wanted)
    .map((field) => `a target of the kind ${kind} has no field ${field}`);
}

function holderProblems(holder: unknown, given: Given): string[] {
  if (holder === null || holder === undefined) return [];
  // parseManifest has checked that `attached_to` is an object.
  const { instance, nic, ...rest } = holder as Values;
  const unknown = Object.keys(rest).map((field) =>
    `attached_to has no field ${field}; its fields are instance and nic`
  );
  if (typeof instance !== "string" || typeof nic !== "string") {
    return ["attached_to must have the names of an instance and a NIC, as in { instance: web1, nic: primary }"];
  }
  const names = nicsOf(instance, given);
  return names === undefined || names.includes(nic)
    ? unknown
    : [...unknown, `instance ${instance} has no NIC ${nic}; it has ${names.join(", ")}`];
}

/** Returns the names of the NICs of an instance that exists or will be created; undefined for an unknown instance. */
function nicsOf(instance: string, { project, manifest }: Given): unknown[] | undefined {
  const holder = [...project.existing, ...manifest?.entries ?? []]
    .find(({ list, key }) => list === "instances" && key === instance);
  return holder && [FIRST_NIC, ...extraNics(holder.values).map(({ name }) => name)];
}

function imageProblems({ image }: Values, { project }: Given): string[] {
  const ids = project.shared_names.get(String(image));
  return ids === undefined ? [] : [
    `${ids.length} images have the name ${image} (${ids.join(", ")}); ` +
    `create the instance with \`tenantctl instance create --image ID\`, or rename an image`,
  ];
}

function nicProblems(values: Values): string[] {
  const isWrong = ({ subnet, name, ...rest }: Values) =>
    typeof subnet !== "string" || typeof name !== "string" || Object.keys(rest).length > 0;
  return extraNics(values).some(isWrong)
    ? ["each of extra_nics must have the two fields subnet and name, both texts, and no other field"]
    : [];
}

/** parseManifest has checked that the value is a list of objects. */
function extraNics({ extra_nics }: Values): readonly Values[] {
  return (extra_nics ?? []) as readonly Values[];
}
