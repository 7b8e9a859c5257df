// Metrics of instances: use of the processor, memory, disks and network (docs/instances.md, "Metrics").
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { METRICS_MINUTES_DEFAULT, METRICS_MINUTES_MAX } from "./limits.ts";

const bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A node's reading of one machine. All counters begin at zero when the machine starts. */
export const MachineMetrics = z.object({
  cpu_seconds: z.number().min(0).max(Number.MAX_SAFE_INTEGER).describe(
    "Processor time since the machine started, of all its vCPUs together",
  ),
  memory_bytes: bytes.describe("Memory of the node that the machine occupies now"),
  disk_read_bytes: bytes.describe("Since the machine started, of all its disks"),
  disk_written_bytes: bytes,
  network_received_bytes: bytes.describe("Since the machine started, of all its NICs"),
  network_sent_bytes: bytes,
});
export type MachineMetrics = z.infer<typeof MachineMetrics>;

/** A reading with its instance, as a node reports it. */
export type ReportedMetrics = MachineMetrics & { readonly instance_id: string };

/** One sample. `at` is when it reached the control plane, by the control plane's clock. */
export const MetricsSample = MachineMetrics.extend({ at: Timestamp });
export type MetricsSample = z.infer<typeof MetricsSample>;

/** The samples of an instance, oldest first. A counter that falls means that the machine started again. */
export const InstanceMetrics = z.object({
  instance_id: z.string(),
  interval_s: z.number().int().describe("Seconds between two samples"),
  samples: z.array(MetricsSample),
});
export type InstanceMetrics = z.infer<typeof InstanceMetrics>;

/** The query of the metrics of an instance. */
export const MetricsQuery = z.object({
  minutes: z.coerce.number().int().min(1).max(METRICS_MINUTES_MAX).default(METRICS_MINUTES_DEFAULT).describe(
    "How far back the samples go",
  ),
});
