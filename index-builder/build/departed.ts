// When a point release ends, its builds leave the vendor's current folder. They may appear in the vendor's vault days
// later, and are then added to the archive of the index. A build must keep its first_seen time, so the trust state
// keeps the times of builds that have left the folder and are not in the archive yet.
import type { Build } from "../tree/model.ts";

/** The kept first_seen times. The keys have the form "release/build". */
export type Departed = Readonly<Record<string, string>>;

/**
 * Returns the first_seen times to keep for a release: the times already kept, and the times of builds that left since
 * the previous tree. Leaves out builds that are current or archived.
 * @param known the times kept so far, of all releases
 * @param before the current builds of this release in the previous tree
 */
export function departedOf(
  known: Departed,
  { release, before, current, archived }: {
    release: string;
    before: readonly Build[];
    current: readonly Build[];
    archived: readonly Build[];
  },
): Departed {
  const there = new Set([...current, ...archived].map(({ build }) => build));
  const points = new Set(current.map(({ point_release }) => point_release));
  const of_release = Object.entries(known).filter(([name]) => name.startsWith(`${release}/`));
  const left = before.flatMap(({ build, point_release, first_seen }) =>
    point_release === null || first_seen === null || points.has(point_release)
      ? []
      : [[`${release}/${build}`, first_seen] as const]
  );
  return Object.fromEntries([...of_release, ...left].filter(([name]) => !there.has(name.slice(release.length + 1))));
}
