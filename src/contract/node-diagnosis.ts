// Why a machine is not usable, and what to do about it.
import { z } from "zod";
import { BOOT_RECORD_STATES, CN_STATES } from "./enums.ts";

/** How much a finding matters. */
export const FINDING_LEVELS = ["stops", "warns"] as const;

/** A problem or a warning about a machine, and its fix. */
export const Finding = z.object({
  level: z.enum(FINDING_LEVELS).describe("stops: not usable until this is fixed; warns: usable all the same"),
  text: z.string(),
  mend: z.string().nullable().describe("A command to run or a step to take; null when only waiting helps"),
});
export type Finding = z.infer<typeof Finding>;

const judged = {
  usable: z.boolean().describe("True if no finding has the level stops"),
  findings: z.array(Finding).describe("Problems first"),
};

/** Whether a node can run new instances. The server judges all ages by its own clock. */
export const CnDiagnosis = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  state: z.enum(CN_STATES),
  ...judged,
});
export type CnDiagnosis = z.infer<typeof CnDiagnosis>;

/** Whether a machine that no node is bound to can enrol. It is not usable before it has been set up. */
export const BootDiagnosis = z.object({
  mac: z.string(),
  state: z.enum(BOOT_RECORD_STATES),
  server_uuid: z.string().nullable().describe("The node that the record is bound to; its own diagnosis says more"),
  ...judged,
});
export type BootDiagnosis = z.infer<typeof BootDiagnosis>;
