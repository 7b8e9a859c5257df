// Raises the kernel's limits on learned neighbours. All network namespaces of a machine share the limits, and Linux's
// default is 1,024 neighbours in each family.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Up to gc_thresh1 neighbours, the kernel keeps unused neighbours. Above gc_thresh2 neighbours, it removes unused
 * neighbours after 5 s. Above gc_thresh3 neighbours, it adds no new neighbour. A router learns at most 8 link-local
 * addresses of a NIC (LINK_LOCALS_MAX). 32,768 neighbours take about 16 MB.
 */
const LIMITS = { gc_thresh1: 8_192, gc_thresh2: 16_384, gc_thresh3: 32_768 } as const;

/**
 * Raises each limit of the kernel that is lower than in LIMITS. A failure is only logged, because the networks of
 * guests also work with the old limits.
 */
export async function raiseNeighbourLimits(log: (line: string) => void, folder = "/proc/sys/net"): Promise<void> {
  // The highest limit is raised first, so that the limits are in order at every moment.
  for (const [name, limit] of Object.entries(LIMITS).toReversed()) {
    for (const family of ["ipv4", "ipv6"]) {
      const path = join(folder, family, "neigh/default", name);
      try {
        if (Number(await readFile(path, "utf8")) < limit) await writeFile(path, `${limit}\n`);
      } catch (error) {
        log(`network: ${path} could not be raised to ${limit}: ${(error as Error).message}`);
      }
    }
  }
}
