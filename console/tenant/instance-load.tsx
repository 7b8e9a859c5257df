// Shows the load of an instance over hours or days: averages of the processor, memory, disks and network.
import { useMemo } from "preact/hooks";
import type { LoadStep } from "../../src/contract/enums.ts";
import type { InstanceLoad } from "../../src/contract/instance-metrics.ts";
import type { ChartData } from "../charts/chart.ts";
import { get } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import type { Query } from "../core/store.ts";
import { bytes, percent } from "../core/text.ts";
import { AsCommand, Problem } from "../parts/basics.tsx";
import { LineChart } from "../parts/chart.tsx";
import { useQuery } from "../parts/use-query.ts";

/** The page reads the load again after this time in milliseconds. The shortest averages cover one minute. */
const FRESH_MS = 60_000;

function loadQuery(id: string, by: LoadStep): Query<InstanceLoad> {
  return {
    key: `load of ${id} ${by}`,
    kinds: ["instance"],
    fresh_ms: FRESH_MS,
    read: (signal) => get<InstanceLoad>(`/v1/instances/${id}/load`, { by }, signal),
  };
}

type Shown = { readonly id: string; readonly name: string; readonly by: LoadStep };

export function InstanceLoadCharts({ id, name, by }: Shown) {
  const { data, refusal } = useQuery(loadQuery(id, by));
  return (
    <>
      {refusal !== undefined && <Problem refusal={refusal} />}
      {data?.simulated === true && <p class="dim">The node is simulated and generated these values.</p>}
      {data?.samples.length === 0 && <p class="dim">No load yet: the first {by} has not ended.</p>}
      {data !== undefined && data.samples.length > 0 && <Charts samples={data.samples} />}
      <AsCommand line={tenantctl("instance load", [name], { "--by": by })} />
    </>
  );
}

function Charts({ samples }: Pick<InstanceLoad, "samples">) {
  const data = useMemo(() => {
    const times = samples.map(({ at }) => Date.parse(at) / 1_000);
    const of = (...keys: readonly Exclude<keyof (typeof samples)[number], "at">[]): ChartData => [
      times,
      ...keys.map((key) => samples.map((sample) => sample[key])),
    ];
    return {
      cpu: of("cpu", "cpu_max"),
      memory: of("memory_bytes"),
      disks: of("disk_read_bytes_per_s", "disk_written_bytes_per_s"),
      network: of("network_received_bytes_per_s", "network_sent_bytes_per_s"),
    };
  }, [samples]);
  return (
    <div class="charts">
      <LineChart title="Processor (100 % is one vCPU)" names={["average", "highest"]} text={percent} data={data.cpu} />
      <LineChart title="Node memory used by the instance" names={["used"]} text={bytes} data={data.memory} />
      <LineChart title="Disks" names={["read", "written"]} text={speed} data={data.disks} />
      <LineChart title="Network" names={["received", "sent"]} text={speed} data={data.network} />
    </div>
  );
}

const speed = (per_second: number) => `${bytes(Math.round(per_second))}/s`;
