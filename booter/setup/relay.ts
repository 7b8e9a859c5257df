// Relays the report of a setup script to the control plane, for a run of this booter or of another booter. The report
// carries the run's epoch, so the control plane refuses the report of a run that has ended.
import { type ApiClient, isRefusal, type SetupReport } from "../api-client/client.ts";
import type { Counters } from "../counters.ts";
import type { Log } from "../log.ts";

/**
 * `stale`: the control plane refused the report. `away`: it gave no valid answer or was overloaded, so the report can
 * be repeated. `unknown`: this booter does not know the run.
 */
export type Relayed = "taken" | "unknown" | "stale" | "away";

export type RelayedRun = { readonly server_uuid: string; readonly epoch: number; readonly mac: string };

export type RelayPorts = { readonly api: Pick<ApiClient, "report">; readonly counters: Counters; readonly log: Log };

/** Relays a report. Never rejects. */
export async function relayReport(
  { server_uuid, epoch, mac }: RelayedRun,
  report: SetupReport,
  { api, counters, log }: RelayPorts,
): Promise<Exclude<Relayed, "unknown">> {
  const { kind } = report;
  try {
    await api.report(server_uuid, epoch, kind === "complete" ? { ...report, mac } : report);
    counters.count("setup_reports_total", { kind });
    log("setup.report", { server_uuid, epoch, kind, step: "step" in report ? report.step : null });
    return "taken";
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log("setup.report_refused", { server_uuid, kind, reason });
    return isRefusal(error) ? "stale" : "away";
  }
}
