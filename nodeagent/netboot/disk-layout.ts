// nodeagent netboot disk-layout: computes the pool of this machine with the same code as the control plane's proposal.
// Prints the pool in the form of SmartOS's layout tool, which the setup script reads.
import { layoutOf, layoutOptionError, type LayoutOptions } from "../../src/lib/disk-layout/layout.ts";
import type { MachineDisk } from "./sysinfo.ts";

const BYTES_PER_GB = 1e9;

/**
 * Returns the layout as text: one value per line, indented with tabs. The sizes are whole GB and every disk counts as
 * spinning, as in the proposal that the operator approved. So the layout uses the disks that the operator approved.
 * @throws Error with the error text of SmartOS's layout tool
 */
export function layoutText(disks: readonly MachineDisk[], options: LayoutOptions): string {
  const error = layoutOptionError(options);
  if (error !== null) throw new Error(error);
  const made = layoutOf(
    disks.map(({ name, size_bytes }) => ({
      name,
      size_bytes: Math.floor(size_bytes / BYTES_PER_GB) * BYTES_PER_GB,
      solid_state: false,
      removable: false,
      bus: "",
    })),
    options,
  );
  if ("error" in made) throw new Error(made.error);
  const { vdevs, spares, logs, cache, capacity_bytes } = made.proposal;
  const named = (list: readonly { readonly name: string }[]) => list.map(({ name }) => ({ name }));
  const document = {
    spares: named(spares),
    vdevs: vdevs.map((vdev) =>
      vdev.type === null ? { name: vdev.disks[0]!.name } : { type: vdev.type, devices: named(vdev.disks) }
    ),
    capacity: capacity_bytes,
    ...(logs.length === 0 ? {} : { logs: named(logs) }),
    ...(cache.length === 0 ? {} : { cache: named(cache) }),
  };
  return `${JSON.stringify(document, null, "\t")}\n`;
}
