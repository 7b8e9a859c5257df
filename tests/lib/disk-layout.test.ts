import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DISK_LAYOUTS } from "../../src/contract/enums.ts";
import { layoutOf, layoutOptionError, type LayoutOptions } from "../../src/lib/disk-layout/layout.ts";
import type { Disk } from "../../src/lib/disk-layout/size-classes.ts";

type RecordedDisk = { type: string; name: string; size: number; removable: boolean; solid_state: boolean };
type RecordedCase = { id: number; title: string; disks: RecordedDisk[]; options: LayoutOptions; result: unknown };
const recorded: { cases: RecordedCase[] } = JSON.parse(
  readFileSync(new URL("../fixtures/disklayout-cases.json", import.meta.url), "utf8"),
);

const AUTO: LayoutOptions = { layout: null, width: null, spares: null, cache: true, exclude: [] };
const GB = 1e9;

/** Creates `count` disks named `${prefix}0`, `${prefix}1`, ... */
function rack(count: number, gb: number, { prefix = "c", solid_state = false } = {}): Disk[] {
  return Array.from({ length: count }, (_, index) => {
    return { name: `${prefix}${index}`, size_bytes: gb * GB, solid_state, removable: false, bus: "SCSI" };
  });
}

/** Formats a layout like the recorded results: omits empty lists, and names the disks. */
function printed(disks: readonly Disk[], options: LayoutOptions): Record<string, unknown> {
  const made = layoutOf(disks, options);
  const names = (list: readonly Disk[]) => list.map(({ name }) => name);
  const listed = (key: string, list: readonly Disk[]) => (list.length === 0 ? {} : { [key]: names(list) });
  if ("error" in made) return { error: made.error, ...listed("logs", made.logs), ...listed("cache", made.cache) };
  const { vdevs, capacity_bytes, spares, logs, cache } = made.proposal;
  return {
    vdevs: vdevs.map(({ type, disks }) => type === null ? { disk: disks[0]!.name } : { type, devices: names(disks) }),
    capacity: capacity_bytes,
    ...listed("spares", spares),
    ...listed("logs", logs),
    ...listed("cache", cache),
  };
}

test.each(recorded.cases.map((one) => [one.id, one.title, one] as const))("recorded %i: %s", (_id, _title, one) => {
  const disks = one.disks.map(({ type, size, ...rest }) => ({ ...rest, bus: type, size_bytes: size }));
  const { early: _, ...expected } = one.result as { early?: boolean };
  expect(printed(disks, one.options)).toEqual(expected);
});

test("the file of recorded cases has all 73 cases", () => expect(recorded.cases).toHaveLength(73));

/** Summarizes a layout: the number of disks in each stripe, the number of spares, and the capacity in GB. */
function summary(disks: readonly Disk[], options: Partial<LayoutOptions>): string {
  const made = layoutOf(disks, { ...AUTO, ...options });
  if ("error" in made) return made.error;
  const { layout, vdevs, spares, capacity_bytes } = made.proposal;
  return `${layout} ${vdevs.map((one) => one.disks.length).join("+")}, ${spares.length} spares, ${capacity_bytes / GB}`;
}

test.each<[string, number, Partial<LayoutOptions>, string]>([
  ["mirror of 6", 6, { layout: "mirror" }, "mirror 2+2, 2 spares, 1200"],
  [
    "mirror of 5, width 3, with 3 spares",
    5,
    { layout: "mirror", width: 3, spares: 3 },
    "3 is an invalid width for mirroring and 2 disks",
  ],
  ["raidz1 of 4", 4, { layout: "raidz1" }, "raidz1 4, 0 spares, 1800"],
  ["raidz1 of 7, width 7", 7, { layout: "raidz1", width: 7 }, "raidz1 7, 0 spares, 3600"],
  [
    "raidz1 of 8 with 1 spare",
    8,
    { layout: "raidz1", spares: 1 },
    "no acceptable raidz layout is possible with 8 disks and 1 spare",
  ],
  [
    "raidz1 of 5, width 6",
    5,
    { layout: "raidz1", width: 6 },
    "6 is an invalid width for raidz and 5 disks (min: 3, default max: 6)",
  ],
  ["raidz2 of 12", 12, { layout: "raidz2" }, "raidz2 11, 1 spares, 5400"],
  [
    "raidz2 of 6, width 5",
    6,
    { layout: "raidz2", width: 5 },
    "5 is an invalid width for raidz2 and 6 disks (min: 6, default max: 6)",
  ],
  [
    "raidz3 of 16, width 15, with 2 spares",
    16,
    { layout: "raidz3", width: 15, spares: 2 },
    "15 is an invalid width for raidz3 and 2 spares",
  ],
  ["raidz3 of 7", 7, { layout: "raidz3" }, "raidz3 7, 0 spares, 2400"],
  ["mirror of 4 with 2 spares", 4, { layout: "mirror", spares: 2 }, "mirror 2, 2 spares, 600"],
  ["single of 1 with 1 spare", 1, { layout: "single", spares: 1 }, "too many spares (1) for this disk configuration"],
  [
    "raidz1 of 68 with 1 spare",
    68,
    { layout: "raidz1", spares: 1 },
    "invalid number of spares (1) for this disk configuration",
  ],
  ["default layout of 13 without spares", 13, { spares: 0 }, "raidz3 13, 0 spares, 6000"],
  ["default layout of 15 without spares", 15, { spares: 0 }, "raidz1 3+3+3+3+3, 0 spares, 6000"],
  ["default layout of 9 without spares", 9, { spares: 0 }, "raidz2 9, 0 spares, 4200"],
  ["default layout of 6 without spares", 6, { spares: 0 }, "raidz1 3+3, 0 spares, 2400"],
  ["default layout of 20 without spares", 20, { spares: 0 }, "raidz2 10+10, 0 spares, 9600"],
  [
    "default layout of 26 without spares",
    26,
    { spares: 0 },
    "no acceptable raidz layout is possible with 26 disks and 0 spares",
  ],
  ["default layout of 14, width 12", 14, { width: 12 }, "raidz2 12, 2 spares, 6000"],
  ["default layout of 14, width 13", 14, { width: 13 }, "raidz3 13, 1 spares, 6000"],
])(
  "disks of 600 GB: %s",
  (_title, count, options, expected) => expect(summary(rack(count, 600), options)).toBe(expected),
);

test("eight or more disks above 1,500 GB get two parity disks instead of mirrors", () => {
  expect(summary(rack(8, 1_500), {})).toBe("mirror 2+2+2, 2 spares, 4500");
  expect(summary(rack(8, 1_501), {})).toBe("raidz2 8, 0 spares, 9006");
  expect(summary(rack(7, 4_000), {})).toBe("mirror 2+2+2, 1 spares, 12000");
});

test("the largest class of spinning disks is the storage, smaller classes are cache, and a few small solid state disks are the log", () => {
  const disks = [
    ...rack(2, 100, { prefix: "s", solid_state: true }),
    ...rack(2, 800, { prefix: "t", solid_state: true }),
    ...rack(2, 600, { prefix: "b" }),
    ...rack(4, 4_000),
  ];
  const mirror = { ...AUTO, layout: "mirror" };
  expect(printed(disks, mirror)).toMatchObject({ logs: ["s0", "s1"], cache: ["b0", "b1", "t0", "t1"] });
  expect(printed(disks, { ...mirror, cache: false })).toMatchObject({ logs: ["s0", "s1"] });
  expect(printed(disks, { ...mirror, cache: false })).not.toHaveProperty("cache");
});

test("with spares 0 the layout has no spare; without a value for spares, layoutOf chooses their number", () => {
  expect(summary(rack(3, 600), { layout: "mirror" })).toBe("mirror 2, 1 spares, 600");
  expect(summary(rack(3, 600), { layout: "mirror", spares: 0 })).toBe("mirror 2+1, 0 spares, 1200");
});

test.each([
  [{ width: 1 }, "invalid width: 1"],
  [{ width: 0 }, "invalid width: 0"],
  [{ width: 2.5 }, "invalid width: 2.5"],
  [{ spares: -1 }, "invalid value for number of spares: -1"],
  [{ exclude: ["c0,c1"] }, 'invalid disk name: "c0,c1"'],
  [{ exclude: [""] }, 'invalid disk name: ""'],
  [{ width: 2, spares: 0, exclude: ["c0t5000C500A1B2C3D4d0"] }, null],
])("options %j get the error %j (null: none)", (options, error) => {
  for (const layout of DISK_LAYOUTS) expect(layoutOptionError({ ...AUTO, layout, ...options })).toBe(error);
});

const someDisks = fc.array(
  fc.record({
    count: fc.integer({ min: 1, max: 12 }),
    gb: fc.constantFrom(0, 16, 100, 104, 109, 480, 600, 800, 960, 1_000, 4_000),
    solid_state: fc.boolean(),
  }),
  { maxLength: 5 },
).map((groups) =>
  groups.flatMap(({ count, gb, solid_state }, index) => rack(count, gb, { prefix: `g${index}d`, solid_state }))
);
const someOptions = fc.record({
  layout: fc.constantFrom(...DISK_LAYOUTS, null),
  width: fc.option(fc.integer({ min: 2, max: 22 })),
  spares: fc.option(fc.integer({ min: 0, max: 8 })),
  cache: fc.boolean(),
  exclude: fc.array(fc.constantFrom("g0d0", "G0D1", "g1d0", "nothing"), { maxLength: 3 }),
});

test("no disk has two roles, an excluded disk has no role, and the layout has the requested width and spares", () => {
  fc.assert(
    fc.property(someDisks, someOptions, (disks, options) => {
      const made = layoutOf(disks, options);
      if ("error" in made) {
        expect(made.error).not.toBe("");
        return;
      }
      const { layout, width, vdevs, spares, logs, cache } = made.proposal;
      const used = [...vdevs.flatMap((one) => one.disks), ...spares, ...logs, ...cache].map(({ name }) => name);
      expect(new Set(used).size).toBe(used.length);
      const excluded = options.exclude.map((name) => name.toLowerCase());
      expect(used.filter((name) => excluded.includes(name.toLowerCase()))).toEqual([]);
      if (options.layout !== null) expect(layout).toBe(options.layout);
      if (options.spares !== null && layout !== "single") expect(spares).toHaveLength(options.spares);
      if (options.width !== null && layout !== "single") expect(width).toBe(options.width);
      if (!options.cache) expect(cache).toEqual([]);
      expect(vdevs.length).toBeGreaterThan(0);
      for (const { type, disks } of vdevs) expect(disks.length === width || type !== "raidz").toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("storage disks are all spinning or all solid state, caches of the same kind are smaller, and spares are the largest storage disks", () => {
  fc.assert(fc.property(someDisks, someOptions, (disks, options) => {
    const made = layoutOf(disks, options);
    if ("error" in made) return;
    const { vdevs, spares, cache } = made.proposal;
    const striped = vdevs.flatMap((one) => one.disks);
    const largest = Math.max(...striped.map(({ size_bytes }) => size_bytes));
    const solid = striped[0]!.solid_state;
    for (const one of [...striped, ...spares]) expect(one.solid_state).toBe(solid);
    for (const one of spares) expect(one.size_bytes).toBeGreaterThanOrEqual(largest);
    for (const one of cache.filter(({ solid_state }) => solid_state === solid)) {
      expect(one.size_bytes).toBeLessThan(Math.min(...striped.map(({ size_bytes }) => size_bytes)));
    }
  }));
});

test("the capacity is at most the sum of the disks, and doubles if all disks are twice as large", () => {
  const layout = fc.constantFrom(...DISK_LAYOUTS);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9_000 }), layout, (count, gb, layout) => {
      const capacity = (size: number) => {
        const made = layoutOf(rack(count, size), { ...AUTO, layout });
        return "error" in made ? null : made.proposal.capacity_bytes;
      };
      const small = capacity(gb), twice = capacity(2 * gb);
      expect(twice).toBe(small === null ? null : 2 * small);
      if (small !== null) expect(small).toBeLessThanOrEqual(count * gb * GB);
    }),
  );
});

test("one more disk never reduces the capacity of a mirror", () => {
  const capacity = (count: number) => {
    const made = layoutOf(rack(count, 600), { ...AUTO, layout: "mirror" });
    return "error" in made ? 0 : made.proposal.capacity_bytes;
  };
  for (let count = 1; count < 100; count++) expect(capacity(count + 1)).toBeGreaterThanOrEqual(capacity(count));
});
