// Defines the schemas of the nodes' capacity and load, and of the instances on the nodes.
import { z } from "zod";
import { CapacityReport } from "./agent.ts";
import { Timestamp } from "./common.ts";

/** Processors, memory and disk. */
const Amounts = z.object({
  cpu: z.number().describe("Processor threads, or vCPUs"),
  memory_bytes: z.number().int(),
  disk_bytes: z.number().int(),
});
const Placed = Amounts.extend({ instances: z.number().int() });

/** The last report of a node, and the sums of the resources of its instances. */
export const NodeCapacity = z.object({
  report: CapacityReport.nullable().describe("Null before the first report"),
  reported_at: Timestamp.nullable(),
  placed: Placed,
});
export type NodeCapacity = z.infer<typeof NodeCapacity>;

/**
 * The fleet: the resources of approved nodes, the sums of the resources of their instances, and the sums of the quotas.
 */
export const FleetCapacity = z.object({
  nodes: z.object({
    approved: z.number().int(),
    reporting: z.number().int().describe("Approved nodes with a capacity report; only these count in `physical`"),
  }),
  physical: Amounts.extend({
    disk_free_bytes: z.number().int().describe("The free disk space that the nodes last reported"),
  }),
  placed: Placed.describe("The resources of the instances on approved nodes"),
  quotas: Placed.describe("The sum of the quotas of the tenants with a quota"),
  tenants: z.object({
    total: z.number().int(),
    with_quota: z.number().int(),
  }),
});
export type FleetCapacity = z.infer<typeof FleetCapacity>;

const share = z.number().nullable().describe("0 to 1; null if the node did not report it");

/**
 * One hour of processor load. The server counts the samples in 20 equal ranges from 0 to 1. For `cpu_mean`, each sample
 * counts as the middle of its range. `cpu_max` is the highest sample.
 */
export const LoadHour = z.object({ hour: Timestamp, cpu_mean: z.number(), cpu_max: z.number() });
export type LoadHour = z.infer<typeof LoadHour>;

/**
 * How busy a node is: the samples of the last 5 minutes, and the load of each hour of the last 7 days. Both lists begin
 * with the oldest entry.
 */
export const NodeLoad = z.object({
  samples: z.array(z.object({ at: Timestamp, cpu: share, ram_used: share })),
  hours: z.array(LoadHour),
});
export type NodeLoad = z.infer<typeof NodeLoad>;

/** How busy the fleet was in each hour of the last 7 days, oldest first. */
export const FleetLoad = z.object({
  hours: z.array(LoadHour.extend({ nodes: z.number().int().describe("Nodes with samples in this hour") })),
});
export type FleetLoad = z.infer<typeof FleetLoad>;
