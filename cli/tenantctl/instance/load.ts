import { LOAD_STEPS } from "../../../src/contract/enums.ts";
import type { InstanceLoad, LoadSample } from "../../../src/contract/instance-metrics.ts";
import { type AnyCommand, listCommand, oneOf } from "../../framework.ts";
import { BYTES_COLUMN, type Column, TIME_COLUMN } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

/** Number of characters of a full bar. No table truncates a cell of this width. */
const BAR_CHARS = 10;

export function load(): AnyCommand {
  return listCommand(
    "load",
    "Show the load of an instance over hours or days, with a chart of its processor use",
    "web1 --by minute",
  )
    .argument("<instance>", NAME_HELP)
    .addOption(oneOf("--by <period>", "minute: the last 6 hours; hour: the last 7 days; default: hour", LOAD_STEPS))
    .action(withIo(async (io, name, { by }) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}/load`;
      const answer = await io.get<InstanceLoad>(path, { by });
      const most = Math.max(1, ...answer.samples.map(({ cpu }) => cpu ?? 0));
      io.table(answer, answer.samples, columnsOf(most), `(no load yet: the first ${answer.by} has not ended)`);
      if (answer.simulated) io.note("The node is simulated: it generated the values");
    }));
}

/** The bar shows how many vCPUs were busy. It is full at `most` vCPUs. */
function columnsOf(most: number): readonly Column<LoadSample>[] {
  return [
    ["TIME", ({ at }) => at, TIME_COLUMN],
    ["VCPUS_BUSY", ({ cpu }) => cpu === null ? null : cpu.toFixed(2)],
    ["CHART", ({ cpu }) => "#".repeat(Math.round((cpu ?? 0) / most * BAR_CHARS)).padEnd(BAR_CHARS, ".")],
    ["MEMORY", ({ memory_bytes }) => memory_bytes, BYTES_COLUMN],
    ["READ/S", (of) => rounded(of.disk_read_bytes_per_s), BYTES_COLUMN],
    ["WRITTEN/S", (of) => rounded(of.disk_written_bytes_per_s), BYTES_COLUMN],
    ["RECEIVED/S", (of) => rounded(of.network_received_bytes_per_s), BYTES_COLUMN],
    ["SENT/S", (of) => rounded(of.network_sent_bytes_per_s), BYTES_COLUMN],
  ];
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
