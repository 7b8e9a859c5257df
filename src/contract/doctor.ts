// Defines the report of the doctor, which checks the invariants and the health of the system.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { CHECK_STATUSES, DIAGNOSES, DOCTOR_SCOPES } from "./enums.ts";
import { DOCTOR_LOG_ROWS } from "./limits.ts";

/** The result of one check: what it found, and how to fix it. */
export const CheckResult = z.object({
  id: z.string().describe("INV-1 to INV-20 for an invariant, a name for other conditions"),
  title: z.string().describe("The statement that is true when the check finds no problem"),
  status: z.enum(CHECK_STATUSES).describe("skip means that the check did not run; `facts` has the reason"),
  found: z.array(z.string()).describe("The first problems"),
  more: z.boolean().describe("True when there are more problems than `found` lists"),
  facts: z.array(z.string()).describe("Useful observations of the check"),
  mend: z.string().nullable().describe("How to fix the problems"),
});
export type CheckResult = z.infer<typeof CheckResult>;

/** The results of all checks of one run, in order. */
export const DoctorReport = z.object({
  status: z.enum(DIAGNOSES).describe("The worst status of the checks"),
  checked_at: Timestamp,
  scope: z.enum(DOCTOR_SCOPES).describe(
    `Which transitions were checked: all, or only the newest ${DOCTOR_LOG_ROWS.toLocaleString("en")}`,
  ),
  checks: z.array(CheckResult),
});
export type DoctorReport = z.infer<typeof DoctorReport>;
