// Defines the schemas of projects' usage over time (docs/tenancy.md, "Usage by day").
import { z } from "zod";
import { YEARS } from "./common.ts";

const hours = z.number().min(0);
const bytes = z.number().int().min(0);

/** A day in UTC, such as 2026-09-01. */
export const Day = z.iso.date().refine((day) => !(Number(day.slice(0, 4)) < YEARS.first), YEARS.text);

/** Amounts that were used. The hours are rounded to 0.000001, which is 3.6 ms. */
export const UsedAmounts = z.object({
  vcpu_hours: hours.describe("vCPUs of instances that ran, times the hours"),
  memory_gib_hours: hours.describe("Memory of instances that ran, in GiB, times the hours"),
  disk_gib_hours: hours.describe("Size of disks in GiB, times the hours that they existed"),
  floating_ip_hours: hours.describe("Floating IPs, times the hours that the project had them"),
  network_in_bytes: bytes.describe("Bytes that instances received, as their nodes counted them"),
  network_out_bytes: bytes.describe("Bytes that instances sent"),
});
export type UsedAmounts = z.infer<typeof UsedAmounts>;

/** The usage of a project on one day. */
export const DayUsage = UsedAmounts.extend({
  day: Day,
  closed: z.boolean().describe(
    "True if the amounts will not change. A day closes at the earliest an hour after its end",
  ),
});
export type DayUsage = z.infer<typeof DayUsage>;

/** The usage of a project by day. A day without usage has no entry. */
export const ProjectUsage = z.object({
  project_id: z.string(),
  from: Day,
  to: Day,
  days: z.array(DayUsage),
  total: UsedAmounts,
});
export type ProjectUsage = z.infer<typeof ProjectUsage>;

/** The usage of one project, in a list of all projects. */
export const ProjectTotal = UsedAmounts.extend({
  silo: z.string().nullable().describe("The name of the tenant's silo; null if the tenant was deleted"),
  tenant_id: z.string(),
  tenant: z.string().nullable().describe("The name of the tenant; null if it was deleted"),
  project_id: z.string(),
  project: z.string().nullable().describe("The name of the project; null if it was deleted"),
});
export type ProjectTotal = z.infer<typeof ProjectTotal>;

/** The usage of all projects that used something. */
export const SiteUsage = z.object({
  from: Day,
  to: Day,
  closed: z.boolean().describe("True if no amount will change"),
  projects: z.array(ProjectTotal),
  next_page: z.string().optional().describe("The `page_token` of the next page, if the request has a `limit`"),
});
export type SiteUsage = z.infer<typeof SiteUsage>;

/** The query of both lists of usage. */
export const UsageQuery = z.object({
  from: Day.optional().describe("The first day, UTC. Default: the first day of the month of `to`"),
  to: Day.optional().describe("The last day, UTC, which is included. Default: today"),
});
