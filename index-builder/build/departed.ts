// When builds were first seen that are the last of an ended point release and not in its vault yet: a vault may open days
// later, or not answer on the day, and the build is then still the one that was seen long ago.
import type { Build } from "../tree/model.ts";

/** first_seen by "release/build". */
export type Departed = Readonly<Record<string, string>>;

/** @param before builds of this release in the tree before, current ones */
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
