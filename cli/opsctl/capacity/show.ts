import type { FleetCapacity, NodeCapacity } from "../../../src/contract/capacity.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { sizeText } from "../../internal/byte-size.ts";
import { withIo } from "../../internal/run.ts";
import { blockText, type Column, tableText } from "../../internal/table.ts";
import { resolveNode } from "../node-name.ts";

const PERCENT = 100;
const MIB = 2 ** 20;

export function show(): AnyCommand {
  return showCommand("show", "Show the resources of the fleet or of one node, and the part that instances use", "cn-17")
    .argument("[node]", "UUID, unique UUID prefix or hostname; by default all approved nodes together")
    .action(withIo(async (io, name) => {
      if (name === undefined) {
        const fleet = await io.get<FleetCapacity>("/v1/system/capacity");
        return io.print(fleet, fleetText(fleet));
      }
      const node = await io.get<NodeCapacity>(`/v1/system/cns/${await resolveNode(io, name)}/capacity`);
      io.print(node, nodeText(node));
    }));
}

type Row = readonly [name: string, has: number | null, ...shares: readonly number[]];

function fleetText({ nodes, physical, placed, quotas, tenants }: FleetCapacity): string {
  const counted: readonly Row[] = [["CPU", physical.cpu, placed.cpu, quotas.cpu]];
  const sizes: readonly Row[] = [
    ["MEMORY", physical.memory_bytes, placed.memory_bytes, quotas.memory_bytes],
    ["DISK", physical.disk_bytes, placed.disk_bytes, quotas.disk_bytes],
  ];
  const instances: Row = ["INSTANCES", null, placed.instances, quotas.instances];
  const table = tableOf(["PHYSICAL", "PLACED", "QUOTAS"], [
    ...counted.map((row) => cells(row, String)),
    ...sizes.map((row) => cells(row, sizeText)),
    cells(instances, String),
  ]);
  const facts = blockText([
    ["nodes", `${nodes.reporting} of ${nodes.approved} approved nodes report their capacity`],
    ["disk_free", sizeText(physical.disk_free_bytes)],
    ["tenants", `${tenants.with_quota} of ${tenants.total} have a quota`],
  ]);
  return `${table}\n\n${facts}`;
}

function nodeText({ report, reported_at, placed }: NodeCapacity): string {
  const table = tableOf(["PHYSICAL", "PLACED"], [
    cells(["CPU", report?.cpu_threads_logical ?? null, placed.cpu], String),
    cells(["MEMORY", report === null ? null : report.ram_total_mb * MIB, placed.memory_bytes], sizeText),
    cells([
      "DISK",
      report === null ? null : sum(report.zpools.map(({ total_bytes }) => total_bytes)),
      placed.disk_bytes,
    ], sizeText),
    cells(["INSTANCES", null, placed.instances], String),
  ]);
  return `${table}\n\n${blockText([["reported_at", reported_at ?? "never"]])}`;
}

/** Returns the cells of a row. The used amounts are also shown as percentages of the capacity. */
function cells([name, has, ...shares]: Row, text: (value: number) => string): readonly string[] {
  const share = (value: number) =>
    has === null || has === 0 ? text(value) : `${text(value)} (${Math.round(value / has * PERCENT)} %)`;
  return [name, has === null ? "" : text(has), ...shares.map(share)];
}

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = ["RESOURCE", ...titles].map((title, at): Column<readonly string[]> => [title, (row) => row[at]]);
  return tableText(columns, rows);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
