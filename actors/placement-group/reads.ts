// Queries for placement groups.
import type { Kysely } from "kysely";
import type { PlacementGroup } from "../../src/contract/placement-group.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { placementGroup } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "name",
  "description",
  "labels",
  "policy",
  "level",
  "strictness",
  "created_at",
] as const;

const placementGroups = reader("placement_group", COLUMNS, placementGroup.view);

export const findPlacementGroup = placementGroups.find;

export type PlacementGroupQuery = LabeledPage & { readonly project_id: string };

/** Lists the placement groups of a project in the order of their creation. */
export function listPlacementGroups(
  db: Kysely<Database>,
  { project_id, ...at }: PlacementGroupQuery,
): Promise<PlacementGroup[]> {
  return placementGroups.page(db, { project_id }, at);
}
