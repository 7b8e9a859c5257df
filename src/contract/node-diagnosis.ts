// Defines the schemas of diagnoses: why a machine is not usable, and what to do about it.
import { z } from "zod";
import { BOOT_RECORD_STATES, CN_STATES } from "./enums.ts";

/** How much a finding matters. */
export const FINDING_LEVELS = ["stops", "warns"] as const;

/** A problem or a warning about a machine, and its fix. */
export const Finding = z.object({
  level: z.enum(FINDING_LEVELS).describe(
    "stops: the machine is not usable until this is fixed; warns: the machine is usable in spite of this",
  ),
  text: z.string(),
  mend: z.string().nullable().describe("A command to run or a step to take; null if you can only wait"),
});
export type Finding = z.infer<typeof Finding>;

const judged = {
  usable: z.boolean().describe("True if no finding has the level stops"),
  findings: z.array(Finding).describe("Problems first"),
};

/** The diagnosis of a node: whether it can run new instances. The server computes all ages by its own clock. */
export const CnDiagnosis = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  state: z.enum(CN_STATES),
  ...judged,
});
export type CnDiagnosis = z.infer<typeof CnDiagnosis>;

/**
 * The diagnosis of the machine of a boot record: whether the machine can enrol. A machine without a node is usable only
 * after its setup. If the record is bound to a node, the findings are from the node's diagnosis.
 */
export const BootDiagnosis = z.object({
  mac: z.string(),
  state: z.enum(BOOT_RECORD_STATES),
  server_uuid: z.string().nullable().describe(
    "The node that the record is bound to; null if no node is bound",
  ),
  ...judged,
});
export type BootDiagnosis = z.infer<typeof BootDiagnosis>;
