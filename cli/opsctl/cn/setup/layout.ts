// Formats disk layouts as text: every disk, its use, and the resulting pool. A plan takes the options of an approval,
// so that it shows the layout that the control plane computes for this approval. The tool on the node makes the final
// decision about the layout.
import { COMPRESSIONS, DISK_LAYOUTS } from "../../../../src/contract/enums.ts";
import type { LayoutProposal, SetupApproval } from "../../../../src/contract/setup.ts";
import { approvedLayout, type ProposedLayout } from "../../../../src/lib/disk-layout/proposal.ts";
import { command, each, oneOf, wholeNumber } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { type Column, tableText } from "../../../internal/table.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";

/** Returns a setup verb with its node argument and layout options. */
export function layoutCommand(name: string, summary: string, example: string) {
  return command(name, summary, example)
    .argument(...NODE_ARGUMENT)
    .addOption(oneOf("--layout <layout>", "kind of pool", DISK_LAYOUTS))
    .option("--width <disks>", "disks per stripe; by default the tool on the node chooses", wholeNumber(0))
    .option("--spares <disks>", "hot spares, 0 for none; by default the tool on the node chooses", wholeNumber(0))
    .option("--exclude <disk>", "disk to leave unchanged; may be repeated", each)
    .option("--no-cache", "do not use smaller disks as a cache")
    .addOption(oneOf("--compress <algorithm>", "compression of the pool", COMPRESSIONS));
}

export type LayoutOptions = {
  readonly layout?: SetupApproval["disk_layout"];
  readonly width?: number;
  readonly spares?: number;
  readonly exclude?: readonly string[];
  readonly cache: boolean;
  readonly compress?: NonNullable<SetupApproval["disk_compress"]>;
};

/** Returns the fields of an approval for the options that were given. */
export function approvalOf({ width, spares, exclude, cache, compress }: Omit<LayoutOptions, "layout">) {
  return {
    ...(width === undefined ? {} : { disk_width: width }),
    ...(spares === undefined ? {} : { disk_spares: spares }),
    ...(exclude === undefined ? {} : { disk_exclude: [...exclude] }),
    ...(cache ? {} : { disk_cache: false }),
    ...(compress === undefined ? {} : { disk_compress: compress }),
  };
}

/**
 * Computes the layout that the control plane would make from these options and the disks that it knows. Without a
 * layout in the options, returns the control plane's proposal.
 */
export function plannedLayout(
  answer: LayoutProposal,
  options: LayoutOptions,
): { layout?: ProposedLayout; error?: string } {
  if (options.layout === undefined) return { layout: answer.proposal, error: answer.error };
  const made = approvedLayout(answer.disks, {
    disk_layout: options.layout,
    disk_width: options.width ?? null,
    disk_spares: options.spares ?? null,
    disk_exclude: [...options.exclude ?? []],
    disk_cache: options.cache,
    disk_compress: options.compress ?? null,
    hostname: null,
  });
  return "error" in made ? { error: made.error } : { layout: made.proposal };
}

type DiskRow = { readonly name: string; readonly size_gb: number; readonly use: string; readonly lost: boolean };

const DISK_COLUMNS: readonly Column<DiskRow>[] = [
  ["DISK", (disk) => disk.name],
  ["SIZE", (disk) => sizeText(disk.size_gb)],
  ["USE", (disk) => disk.use],
  ["DATA", (disk) => disk.lost ? "DESTROYED" : "kept"],
];

/** Returns a table of every announced disk and, with a layout, its use. */
export function disksText(disks: LayoutProposal["disks"], layout: ProposedLayout | undefined): string {
  if (disks.length === 0) return "(no disks announced)";
  if (layout === undefined) {
    return tableText(DISK_COLUMNS.slice(0, 2), disks.map((disk) => ({ ...disk, use: "", lost: false })));
  }
  const lost = new Set(layout.destroys);
  const rows = disks.map(({ name, size_gb }) => ({ name, size_gb, use: useOf(name, layout), lost: lost.has(name) }));
  return tableText(DISK_COLUMNS, rows);
}

function useOf(disk: string, layout: ProposedLayout): string {
  if (layout.spare_disks.includes(disk)) return "spare";
  if (layout.cache_disks.includes(disk)) return "cache";
  const stripe = layout.vdevs.findIndex(({ disks }) => disks.includes(disk));
  if (stripe < 0) return "not used";
  const { layout: kind, vdevs } = layout;
  return vdevs.length === 1 ? kind : `${kind} ${stripe + 1} of ${vdevs.length}`;
}

/** Returns a line about the pool and a line about the disks whose data is destroyed. */
export function poolText({ layout, width, vdevs, spares, cache_disks, capacity_gb, destroys }: ProposedLayout): string {
  const stripes = layout === "single" ? "one disk" : `${counted(vdevs.length, "stripe")} of ${width} disks`;
  const extra = [counted(spares, "spare"), counted(cache_disks.length, "cache disk")].join(", ");
  return `Pool zones: ${layout}, ${stripes}, ${extra}; about ${sizeText(capacity_gb)} usable.\n` +
    `All data on ${counted(destroys.length, "disk")} is destroyed: ${destroys.map(plainText).join(" ")}`;
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

function sizeText(size_gb: number): string {
  if (size_gb === 0) return "unknown";
  return size_gb < 1_000 ? `${size_gb} GB` : `${Number((size_gb / 1_000).toFixed(2))} TB`;
}
