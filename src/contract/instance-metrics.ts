// Defines the schemas of instances' metrics: the use of the processor, memory, disks and network (docs/instances.md,
// "Metrics").
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { LOAD_STEPS } from "./enums.ts";
import {
  HOURLY_LOAD_KEPT_DAYS,
  METRICS_MINUTES_DEFAULT,
  METRICS_MINUTES_MAX,
  MINUTE_LOAD_KEPT_HOURS,
} from "./limits.ts";

const bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A node's reading of one machine. All counters begin at zero when the machine starts. */
export const MachineMetrics = z.object({
  cpu_seconds: z.number().min(0).max(Number.MAX_SAFE_INTEGER).describe(
    "Processor time of all vCPUs together, since the machine started",
  ),
  memory_bytes: bytes.describe("The node's memory that the machine occupies now"),
  disk_read_bytes: bytes.describe("The sum over all disks, since the machine started"),
  disk_written_bytes: bytes,
  network_received_bytes: bytes.describe("The sum over all NICs, since the machine started"),
  network_sent_bytes: bytes,
  simulated: z.literal(true).optional().describe("True if the node is simulated and generated the values"),
});
export type MachineMetrics = z.infer<typeof MachineMetrics>;

/** A reading with its instance, as a node reports it. */
export type ReportedMetrics = MachineMetrics & { readonly instance_id: string };

/** One sample. `at` is the time at which the sample reached the control plane, by the control plane's clock. */
export const MetricsSample = MachineMetrics.omit({ simulated: true }).extend({ at: Timestamp });
export type MetricsSample = z.infer<typeof MetricsSample>;

/**
 * The samples of an instance, oldest first. If a counter is lower than in the previous sample, the machine has started
 * again.
 */
export const InstanceMetrics = z.object({
  instance_id: z.string(),
  interval_s: z.number().int().describe("Seconds between two samples"),
  samples: z.array(MetricsSample),
});
export type InstanceMetrics = z.infer<typeof InstanceMetrics>;

/** The query of the metrics of an instance. */
export const MetricsQuery = z.object({
  minutes: z.coerce.number().int().min(1).max(METRICS_MINUTES_MAX).default(METRICS_MINUTES_DEFAULT).describe(
    "The number of minutes for which samples are returned",
  ),
});

const perSecond = z.number().min(0).nullable().describe(
  "The rate per second. Null if the machine started again between the two samples",
);

/** The load of an instance in one minute or one hour. */
export const LoadSample = z.object({
  at: Timestamp.describe("The beginning of the minute or hour"),
  cpu: z.number().min(0).nullable().describe("The mean number of busy vCPUs; it may be a fraction, such as 1.5"),
  cpu_max: z.number().min(0).nullable().describe("The number of busy vCPUs in the busiest 15 s"),
  memory_bytes: bytes.describe("The node's memory that the machine occupied, on average"),
  disk_read_bytes_per_s: perSecond,
  disk_written_bytes_per_s: perSecond,
  network_received_bytes_per_s: perSecond,
  network_sent_bytes_per_s: perSecond,
});
export type LoadSample = z.infer<typeof LoadSample>;

/**
 * The load of an instance, oldest first. A minute or hour without samples, for example because the instance was
 * stopped, has no entry.
 */
export const InstanceLoad = z.object({
  instance_id: z.string(),
  by: z.enum(LOAD_STEPS),
  simulated: z.boolean().describe("Whether a simulated node generated some of the values"),
  samples: z.array(LoadSample),
});
export type InstanceLoad = z.infer<typeof InstanceLoad>;

/** The query of the load of an instance. */
export const LoadQuery = z.object({
  by: z.enum(LOAD_STEPS).default("hour").describe(
    `minute: an entry per minute, for the last ${MINUTE_LOAD_KEPT_HOURS} hours. hour: an entry per hour, for the ` +
      `last ${HOURLY_LOAD_KEPT_DAYS} days`,
  ),
});
