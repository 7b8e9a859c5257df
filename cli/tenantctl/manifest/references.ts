// Finds the references between the records of a project.
import type { Entry } from "../../internal/manifest/kind.ts";
import type { Reference, Schema } from "../../internal/manifest/plan.ts";
import { KINDS, type ListName } from "./kind.ts";

export const SCHEMA: Schema = { place: "the project", kinds: KINDS, referencesOf };

/** Returns the records that a record refers to. */
function referencesOf({ list, values }: Entry): Reference[] {
  const { vpc } = values;
  const inVpc = (of: ListName, name: unknown): Reference[] =>
    name === undefined || name === null ? [] : [{ list: of, key: `${vpc}/${name}` }];
  const ofProject = (of: ListName | "images", name: unknown): Reference[] =>
    typeof name === "string" ? [{ list: of, key: name }] : [];
  // parseManifest has checked the types of these values.
  const target = (values.target ?? {}) as { nat_gateway?: unknown };
  const nics = (values.extra_nics ?? []) as readonly { subnet?: unknown }[];
  const keys = (values.ssh_keys ?? []) as readonly string[];
  const holder = (values.attached_to ?? {}) as { instance?: unknown };
  return [
    ...ofProject("vpcs", vpc),
    ...(list === "routes" || list === "subnets" ? inVpc("route_tables", values.route_table) : []),
    ...inVpc("nat_gateways", target.nat_gateway),
    ...inVpc("subnets", values.primary_subnet),
    ...nics.flatMap(({ subnet }) => inVpc("subnets", subnet)),
    ...keys.flatMap((key) => ofProject("ssh_keys", key)),
    ...ofProject("images", values.image),
    ...ofProject("placement_groups", values.placement_group),
    ...ofProject("instances", holder.instance),
  ];
}
