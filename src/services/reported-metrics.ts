// Takes the metrics out of a node's status report, because the metrics are stored separately from the status.
import { MachineMetrics, type ReportedMetrics } from "../contract/instance-metrics.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export type SplitStatus = { readonly payload: unknown; readonly samples: readonly ReportedMetrics[] };

/** Takes the member `metrics` out of a status. Entries that are not metrics of an instance are ignored. */
export function splitMetrics(status: unknown): SplitStatus {
  if (typeof status !== "object" || status === null || Array.isArray(status)) return { payload: status, samples: [] };
  // An object in JSON may have any members.
  const { metrics, ...payload } = status as Readonly<Record<string, unknown>>;
  if (typeof metrics !== "object" || metrics === null) return { payload, samples: [] };
  const samples = Object.entries(metrics).flatMap(([id, value]) => {
    const read = MachineMetrics.safeParse(value);
    return UUID.test(id) && read.success ? [{ instance_id: id.toLowerCase(), ...read.data }] : [];
  });
  return { payload, samples };
}
