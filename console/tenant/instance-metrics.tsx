// Shows the processor, memory, disk and network usage of an instance, from the samples of the last hour or from
// averages of a longer time.
import type { InstanceMetrics } from "../../src/contract/instance-metrics.ts";
import { LOAD_STEPS } from "../../src/contract/enums.ts";
import { HOURLY_LOAD_KEPT_DAYS, METRICS_MINUTES_MAX, MINUTE_LOAD_KEPT_HOURS } from "../../src/contract/limits.ts";
import { type Counter, intervalsOf, rate } from "../../src/lib/metrics/rates.ts";
import { useMemo } from "preact/hooks";
import { get } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { narrow, query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { bytes, percent } from "../core/text.ts";
import type { ChartData } from "../charts/chart.ts";
import { AsCommand, Problem } from "../parts/basics.tsx";
import { LineChart } from "../parts/chart.tsx";
import { useQuery } from "../parts/use-query.ts";
import { InstanceLoadCharts } from "./instance-load.tsx";
import { InstanceHeading } from "./instance-heading.tsx";
import { instanceQuery } from "./queries.ts";

const RANGES_MIN = [5, 15, METRICS_MINUTES_MAX] as const;
/** The longer ranges, which show averages of minutes or hours. */
const PERIODS = { minute: `${MINUTE_LOAD_KEPT_HOURS} h`, hour: `${HOURLY_LOAD_KEPT_DAYS} days` } as const;
/** The page reads the samples again after this time in milliseconds. A node reports them every 15 s. */
const FRESH_MS = 10_000;

function metricsQuery(id: string, minutes: number): Query<InstanceMetrics> {
  return {
    key: `metrics of ${id} ${minutes}`,
    kinds: ["instance"],
    fresh_ms: FRESH_MS,
    read: (signal) => get<InstanceMetrics>(`/v1/instances/${id}/metrics`, { minutes }, signal),
  };
}

export function InstanceMetricsPage({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const minutes = RANGES_MIN.find((each) => String(each) === urlQuery.value.get("minutes")) ?? METRICS_MINUTES_MAX;
  const by = LOAD_STEPS.find((each) => each === urlQuery.value.get("by"));
  const metrics = useQuery(metricsQuery(id, minutes));
  const isEmpty = metrics.data !== undefined && metrics.data.samples.length < 2;
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Metrics" />
      <div class="tabs" role="group" aria-label="Range">
        {RANGES_MIN.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={by === undefined && each === minutes}
            onClick={() => narrow({ minutes: String(each), by: undefined })}
          >
            {each} min
          </button>
        ))}
        {LOAD_STEPS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={by === each}
            onClick={() => narrow({ by: each })}
          >
            {PERIODS[each]}
          </button>
        ))}
      </div>
      {by === undefined ? recent() : <InstanceLoadCharts id={id} name={instance?.name ?? id} by={by} />}
    </>
  );

  function recent() {
    return (
      <>
        {metrics.refusal !== undefined && <Problem refusal={metrics.refusal} />}
        {isEmpty && <p class="dim">No samples yet. A running instance has one every {metrics.data?.interval_s} s.</p>}
        {metrics.data !== undefined && !isEmpty && <Charts metrics={metrics.data} />}
        <AsCommand line={tenantctl("instance metrics", [instance?.name ?? id], { "--minutes": minutes })} />
      </>
    );
  }
}

function Charts({ metrics: { samples } }: { readonly metrics: InstanceMetrics }) {
  const data = useMemo(() => {
    const intervals = intervalsOf(samples);
    const times = intervals.map(({ to }) => Date.parse(to.at) / 1_000);
    const of = (...counters: readonly Counter[]): ChartData => [
      times,
      ...counters.map((counter) => intervals.map((each) => rate(each, counter))),
    ];
    return {
      cpu: of("cpu_seconds"),
      memory: [times, intervals.map(({ to }) => to.memory_bytes)] as const satisfies ChartData,
      disks: of("disk_read_bytes", "disk_written_bytes"),
      network: of("network_received_bytes", "network_sent_bytes"),
    };
  }, [samples]);
  return (
    <div class="charts">
      <LineChart title="Processor (100 % is one vCPU)" names={["used"]} text={percent} data={data.cpu} />
      <LineChart title="Node memory used by the instance" names={["used"]} text={bytes} data={data.memory} />
      <LineChart title="Disks" names={["read", "written"]} text={speed} data={data.disks} />
      <LineChart title="Network" names={["received", "sent"]} text={speed} data={data.network} />
    </div>
  );
}

const speed = (per_second: number) => `${bytes(Math.round(per_second))}/s`;
