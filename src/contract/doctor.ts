// What the doctor finds: every promise that the system can check about itself, and what an operator wants to know of it.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { CHECK_STATUSES, DIAGNOSES } from "./enums.ts";

/** One check: what it looked for, what it found, what to do about it. */
export const CheckResult = z.object({
  id: z.string().describe("INV-1 to INV-20 for an invariant of the design, a word for a condition"),
  title: z.string().describe("What is so when the check finds nothing"),
  status: z.enum(CHECK_STATUSES).describe("skip: it was not or cannot be checked here, `facts` says why"),
  found: z.array(z.string()).describe("What is not as it should be, the first of it"),
  more: z.boolean().describe("True when there is more of it than `found` holds"),
  facts: z.array(z.string()).describe("What the check saw, where that is of use"),
  mend: z.string().nullable().describe("What to do about it"),
});
export type CheckResult = z.infer<typeof CheckResult>;

/** Every check of one examination, in the order in which they ran. */
export const DoctorReport = z.object({
  status: z.enum(DIAGNOSES).describe("The worst of the checks"),
  checked_at: Timestamp,
  checks: z.array(CheckResult),
});
export type DoctorReport = z.infer<typeof DoctorReport>;
