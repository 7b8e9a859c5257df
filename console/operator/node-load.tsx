// Shows the load of a node, and compares its capacity with the resources that are promised to its instances.
import type { NodeCapacity, NodeLoad } from "../../src/contract/capacity.ts";
import { useMemo } from "preact/hooks";
import { get } from "../core/client.ts";
import { bytes, counted, percent } from "../core/text.ts";
import { Facts, Refused, When } from "../parts/basics.tsx";
import { LineChart } from "../parts/chart.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Load } from "./capacity.tsx";

/**
 * The page reads the load and the capacity again after this time in milliseconds. The server takes a sample less often,
 * every minute.
 */
const FRESH_MS = 15_000;
const MIB = 2 ** 20;

export function NodeLoadTab({ id }: { readonly id: string }) {
  const load = useQuery({
    key: `node ${id} load`,
    kinds: [],
    fresh_ms: FRESH_MS,
    read: (signal) => get<NodeLoad>(`/v1/system/cns/${id}/load`, undefined, signal),
  });
  const capacity = useQuery({
    key: `node ${id} capacity`,
    kinds: ["cn", "instance"],
    fresh_ms: FRESH_MS,
    read: (signal) => get<NodeCapacity>(`/v1/system/cns/${id}/capacity`, undefined, signal),
  });
  return (
    <>
      <Refused of={capacity} />
      {capacity.data !== undefined && <CapacityFacts of={capacity.data} />}
      <Refused of={load} />
      {load.data !== undefined && (
        <div class="charts">
          <Load hours={load.data.hours} title="Processors, by hour" />
          <Samples of={load.data.samples} />
        </div>
      )}
    </>
  );
}

function CapacityFacts({ of: { report, reported_at, placed } }: { readonly of: NodeCapacity }) {
  if (report === null) return <p class="dim">The node has reported no capacity.</p>;
  const pools = report.zpools.reduce((sum, { total_bytes }) => sum + total_bytes, 0);
  return (
    <Facts
      of={{
        "Processor threads": `${counted(placed.cpu, "vCPU")} promised of ${report.cpu_threads_logical}`,
        "Memory": `${bytes(placed.memory_bytes)} promised of ${bytes(report.ram_total_mb * MIB)}`,
        "Disk": `${bytes(placed.disk_bytes)} promised of ${bytes(pools)}`,
        "Instances": placed.instances,
        "Reported": <When at={reported_at} />,
      }}
    />
  );
}

function Samples({ of }: { readonly of: NodeLoad["samples"] }) {
  const data = useMemo(() =>
    [
      of.map(({ at }) => Date.parse(at) / 1_000),
      of.map(({ cpu }) => cpu),
      of.map(({ ram_used }) => ram_used),
    ] as const, [of]);
  if (of.length < 2) return <p class="dim">The last 5 minutes have fewer than two samples.</p>;
  return <LineChart title="The last 5 minutes" names={["processors", "memory"]} text={percent} data={data} />;
}
