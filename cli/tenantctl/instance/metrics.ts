import type { InstanceMetrics } from "../../../src/contract/instance-metrics.ts";
import { METRICS_MINUTES_MAX } from "../../../src/contract/limits.ts";
import { type Interval, intervalsOf, rate } from "../../../src/lib/metrics/rates.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import type { Column } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

const MIB = 2 ** 20;
const KIB = 2 ** 10;

export function metrics(): AnyCommand {
  return command("metrics", "Show the processor, memory, disk and network use of an instance", "web1 --minutes 15")
    .argument("<instance>", NAME_HELP)
    .option("--minutes <number>", `how far back: 1 to ${METRICS_MINUTES_MAX}; default: 5`, wholeNumber(1))
    .action(withIo(async (io, name, { minutes }) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}/metrics`;
      const answer = await io.get<InstanceMetrics>(path, { minutes });
      io.table(
        answer,
        intervalsOf(answer.samples),
        COLUMNS,
        "(fewer than two samples: a running instance has one every 15 s)",
      );
    }));
}

const COLUMNS: readonly Column<Interval>[] = [
  ["TIME", ({ to }) => to.at],
  ["CPU", (interval) => percentText(rate(interval, "cpu_seconds"))],
  ["MEMORY", ({ to }) => `${Math.round(to.memory_bytes / MIB)} MiB`],
  ["DISK_READ", (interval) => speedText(rate(interval, "disk_read_bytes"))],
  ["DISK_WRITTEN", (interval) => speedText(rate(interval, "disk_written_bytes"))],
  ["RECEIVED", (interval) => speedText(rate(interval, "network_received_bytes"))],
  ["SENT", (interval) => speedText(rate(interval, "network_sent_bytes"))],
];

/** Formats processor time per second as a percentage of one vCPU. */
function percentText(per_second: number | null): string | null {
  return per_second === null ? null : `${Math.round(per_second * 100)} %`;
}

function speedText(per_second: number | null): string | null {
  return per_second === null ? null : `${(per_second / KIB).toFixed(1)} KiB/s`;
}
