// Shows the hardware of a node, as its operating system announced it and as its BMC reports it.
import type { NodeHardware } from "../../../src/contract/hardware.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { blockText, type Column, tableText } from "../../internal/table.ts";
import { byteSizeText } from "../../internal/byte-size.ts";
import { findNode, NODE_ARGUMENT } from "../node-name.ts";

type Part<K extends "processors" | "memory" | "drives" | "ports" | "firmware"> = NodeHardware[K][number];

const BYTES_PER_GB = 1e9;

const PROCESSORS: readonly Column<Part<"processors">>[] = [
  ["PROCESSOR", ({ name }) => name],
  ["MODEL", ({ model }) => model],
  ["CORES", ({ cores }) => cores],
  ["THREADS", ({ threads }) => threads],
  ["HEALTH", ({ health }) => health],
];
const MEMORY: readonly Column<Part<"memory">>[] = [
  ["MEMORY", ({ name }) => name],
  ["SIZE", ({ size_bytes }) => bytesText(size_bytes)],
  ["PART_NUMBER", ({ part_number }) => part_number],
  ["SERIAL", ({ serial_number }) => serial_number],
  ["HEALTH", ({ health }) => health],
];
const DRIVES: readonly Column<Part<"drives">>[] = [
  ["DRIVE", ({ name }) => name],
  // Vendors give the sizes of drives in units that are powers of ten.
  ["SIZE", ({ size_bytes }) => size_bytes === null ? null : `${Math.round(size_bytes / BYTES_PER_GB)} GB`],
  ["MODEL", ({ model }) => model],
  ["SERIAL", ({ serial_number }) => serial_number],
  ["FIRMWARE", ({ firmware_version }) => firmware_version],
  ["HEALTH", ({ health }) => health],
];
const PORTS: readonly Column<Part<"ports">>[] = [
  ["PORT", ({ name }) => name],
  ["MAC", ({ mac }) => mac],
  ["LINK", ({ link }) => link],
  ["MBPS", ({ speed_mbps }) => speed_mbps],
];
const FIRMWARE: readonly Column<Part<"firmware">>[] = [
  ["FIRMWARE", ({ name }) => name],
  ["VERSION", ({ version }) => version],
];

/** Labels of the output, each with the key of its value in the announced inventory. */
const ANNOUNCED = [
  ["manufacturer", "Manufacturer"],
  ["model", "Product"],
  ["serial_number", "Serial Number"],
  ["bios_version", "BIOS Version"],
  ["cpu", "CPU Type"],
  ["cores", "CPU Core Count"],
  ["memory_mib", "MiB of Memory"],
] as const;

export function hardware(): AnyCommand {
  return showCommand("hardware", "Show the hardware and the firmware of a node", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const node = await findNode(io, name);
      const found = await io.get<NodeHardware | null>(`/v1/cns/${node.server_uuid}/hardware`);
      const sysinfo = (node.sysinfo ?? {}) as Readonly<Record<string, unknown>>;
      const announced = ANNOUNCED.flatMap(([title, key]) => {
        const value = sysinfo[key];
        return typeof value === "string" || typeof value === "number" ? [[title, value] as const] : [];
      });
      const blocks = [
        `announced by the machine:\n${announced.length === 0 ? "(nothing)" : blockText(announced)}`,
        found === null
          ? "shown by its BMC:\n(not read yet; run on the booter: booter redfish ... inventory --report)"
          : bmcText(found),
      ];
      io.print(found, blocks.join("\n\n"));
    }));
}

function bmcText({ system, bmc, processors, memory, drives, ports, firmware, read_at }: NodeHardware): string {
  const block = blockText([
    ["manufacturer", system.manufacturer],
    ["model", system.model],
    ["sku", system.sku],
    ["serial_number", system.serial_number],
    ["uuid", system.uuid],
    ["bios_version", system.bios_version],
    ["memory", bytesText(system.memory_bytes)],
    ["health", system.health],
    ["bmc", [bmc?.model, bmc?.firmware_version].filter((each) => typeof each === "string").join(" ")],
    ["read_at", read_at],
  ]);
  const tables = [
    listed(processors, PROCESSORS),
    listed(memory, MEMORY),
    listed(drives, DRIVES),
    listed(ports, PORTS),
    listed(firmware, FIRMWARE),
  ];
  return [`shown by its BMC:\n${block}`, ...tables.filter((each) => each !== "")].join("\n\n");
}

function listed<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return rows.length === 0 ? "" : tableText(columns, rows);
}

function bytesText(bytes: number | null): string | null {
  return bytes === null ? null : byteSizeText(bytes);
}
