// Shows the capacity of the fleet: the resources of the nodes, the amounts that instances were promised, the quotas,
// and the load.
import type { FleetCapacity, FleetLoad, LoadHour } from "../../src/contract/capacity.ts";
import { useMemo } from "preact/hooks";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { bytes, counted, percent } from "../core/text.ts";
import { AsCommand, Heading, Refused, Section } from "../parts/basics.tsx";
import { LineChart } from "../parts/chart.tsx";
import { useQuery } from "../parts/use-query.ts";

export function Capacity() {
  const capacity = useQuery({
    key: "capacity",
    kinds: ["cn", "instance", "tenant-quota", "tenant"],
    read: (signal) => get<FleetCapacity>("/v1/system/capacity", undefined, signal),
  });
  const load = useQuery({
    key: "fleet load",
    kinds: [],
    read: (signal) => get<FleetLoad>("/v1/system/load", undefined, signal),
  });
  return (
    <>
      <Heading title="Capacity" />
      <Refused of={capacity} />
      {capacity.data !== undefined && <Sums of={capacity.data} />}
      <Refused of={load} />
      {load.data !== undefined && <Load hours={load.data.hours} title="Processors of the fleet, by hour" />}
      <AsCommand line={opsctl("capacity show")} />
    </>
  );
}

function Sums({ of: { nodes, physical, placed, quotas, tenants } }: { readonly of: FleetCapacity }) {
  const number = (value: number) => value.toLocaleString("en");
  const rows = [
    ["Processors", physical.cpu, placed.cpu, quotas.cpu, number],
    ["Memory", physical.memory_bytes, placed.memory_bytes, quotas.memory_bytes, bytes],
    ["Disk", physical.disk_bytes, placed.disk_bytes, quotas.disk_bytes, bytes],
    ["Instances", null, placed.instances, quotas.instances, number],
  ] as const;
  const without = tenants.total - tenants.with_quota;
  return (
    <Section title="Physical, promised and quotas">
      {nodes.reporting < nodes.approved && (
        <p class="sentence warn">
          {counted(nodes.approved - nodes.reporting, "approved node")} of {nodes.approved}{" "}
          reported no capacity, so the physical numbers are incomplete.
        </p>
      )}
      <div class="scrolls" role="region" aria-label="Capacity" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col" class="numeric">Physical</th>
              <th scope="col" class="numeric">Promised to instances</th>
              <th scope="col" class="numeric">Quotas of tenants</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, has, used, promised, text]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="numeric">{has === null ? "–" : text(has)}</td>
                <td class="numeric">{text(used)}{has !== null && has > 0 && ` (${percent(used / has)})`}</td>
                <td class="numeric">{text(promised)}{has !== null && has > 0 && ` (${percent(promised / has)})`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">
        The pools have {bytes(physical.disk_free_bytes)} free.
        {without > 0 && ` The sum of quotas leaves out ${counted(without, "tenant")} without a quota.`}
      </p>
    </Section>
  );
}

const HOUR_S = 3_600;

/** The processor load of each hour, as the mean and the highest sample. An hour without samples is a gap. */
export function Load({ hours, title }: { readonly hours: readonly LoadHour[]; readonly title: string }) {
  const data = useMemo(() => {
    const known = new Map(hours.map((hour) => [Date.parse(hour.hour) / 1_000, hour]));
    const [first] = known.keys();
    const last = [...known.keys()].at(-1);
    const times: number[] = [];
    for (let at = first ?? 0; last !== undefined && at <= last; at += HOUR_S) times.push(at);
    return [
      times,
      times.map((at) => known.get(at)?.cpu_mean ?? null),
      times.map((at) => known.get(at)?.cpu_max ?? null),
    ] as const;
  }, [hours]);
  if (hours.length < 2) return <p class="dim">{title}: fewer than two hours have samples.</p>;
  return <LineChart title={title} names={["mean", "highest"]} text={percent} data={data} />;
}
