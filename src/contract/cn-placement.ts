// Defines the schemas of the placement rules that operators set on one node.
import { z } from "zod";
import { CnParam } from "./cn.ts";
import { Uuid } from "./common.ts";
import { CN_PLACEMENT_CLEARABLE } from "./enums.ts";
import { Labels, LabelsPatch } from "./labels.ts";
import { DESCRIPTION_CHARS_MAX, OVERPROVISION_MAX, TRAIT_BYTES_MAX } from "./limits.ts";

const ratio = z.number().gt(0).max(OVERPROVISION_MAX);

/** The rules that PATCH changes. Traits and the reservoir have their own endpoints. */
export const CnPlacementRules = z.object({
  reserved: z.boolean().describe("True: placement puts no new instances on the node"),
  reserved_reason: z.string().nullable(),
  cordoned: z.boolean().describe(
    "The node takes no new instances for now. If the reason is `drain`, a drain is emptying the node",
  ),
  cordoned_reason: z.string().nullable(),
  overprovision_cpu: z.number().nullable().describe(
    "Placement multiplies the node's CPUs by this factor; null: the cluster default. Whatever the factor is, " +
      "placement rejects an instance with more vCPUs than the node has logical processors",
  ),
  overprovision_ram: z.number().nullable(),
  overprovision_disk: z.number().nullable(),
  fault_domain: z.string().nullable().describe("The name of a group of nodes that fail together, for example a rack"),
  pinned_silo_uuid: z.string().nullable().describe("If set, the node takes only instances of this silo"),
  pinned_tenant_uuid: z.string().nullable().describe("If set, the node takes only instances of this tenant"),
  note: z.string().nullable(),
  labels: Labels,
});
export type CnPlacementRules = z.infer<typeof CnPlacementRules>;

/** The placement rules of a node without rules from an operator. */
export const UNRESTRICTED: CnPlacementRules = {
  reserved: false,
  reserved_reason: null,
  cordoned: false,
  cordoned_reason: null,
  overprovision_cpu: null,
  overprovision_ram: null,
  overprovision_disk: null,
  fault_domain: null,
  pinned_silo_uuid: null,
  pinned_tenant_uuid: null,
  note: null,
  labels: {},
};

/**
 * All placement rules of one node. For a factor or a reservoir field, null means the cluster default. For any other
 * field, null means that no value is set.
 */
export const CnPlacement = CnPlacementRules.extend({
  server_uuid: CnParam.shape.server_uuid,
  traits: z.record(z.string(), z.string()),
  reservoir_enabled: z.boolean().nullable(),
  reservoir_percent: z.number().nullable(),
});
export type CnPlacement = z.infer<typeof CnPlacement>;

const reason = z.string().min(1).max(DESCRIPTION_CHARS_MAX).nullish();

/**
 * A change of a node's placement rules. Missing and null fields stay unchanged; `clear` names the fields to reset to
 * their defaults.
 */
export const CnPlacementPatch = z.strictObject({
  reserved: z.boolean().nullish().describe("false also clears the reason"),
  reserved_reason: reason,
  cordoned: z.boolean().nullish().describe("false also clears the reason"),
  cordoned_reason: reason,
  overprovision_cpu: ratio.nullish(),
  overprovision_ram: ratio.nullish(),
  overprovision_disk: ratio.nullish(),
  fault_domain: z.string().min(1).max(TRAIT_BYTES_MAX).nullish(),
  pinned_silo_uuid: Uuid.nullish(),
  pinned_tenant_uuid: Uuid.nullish().describe("Must belong to the pinned silo, if there is one"),
  note: z.string().max(DESCRIPTION_CHARS_MAX).nullish(),
  labels: LabelsPatch.nullish(),
  clear: z.array(z.enum(CN_PLACEMENT_CLEARABLE)).max(CN_PLACEMENT_CLEARABLE.length).nullish(),
});
export type CnPlacementPatch = z.infer<typeof CnPlacementPatch>;
