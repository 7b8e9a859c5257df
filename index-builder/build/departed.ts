// Keeps the first_seen of an ended point release's last build until the vendor's vault has the build, which may take
// days. The first_seen must not change when the build moves to the archive of the index.
import type { Build } from "../tree/model.ts";

/** The first_seen times by "release/build". */
export type Departed = Readonly<Record<string, string>>;

/** @param before current builds of this release in the previous tree */
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
