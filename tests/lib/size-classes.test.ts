// Tests how disks of similar sizes are grouped into classes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Disk, nominalGb, sizeClasses } from "../../src/lib/disk-layout/size-classes.ts";

const disk = (name: string, gb: number, more: Partial<Disk> = {}): Disk => {
  return { name, size_bytes: gb * 1e9, solid_state: false, removable: false, bus: "SCSI", ...more };
};
const grouped = (...disks: Disk[]) =>
  sizeClasses(disks).map(({ gb, disks }) => `${gb}: ${disks.map(({ name }) => name).join(" ")}`);

test("a whole number of GB is its own nominal capacity", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 1_000_000 }), (gb) => {
    expect(nominalGb(gb * 1e9)).toBe(gb);
  }));
});

test.each([
  [600_127_266_816, 600],
  [1_000_204_886_016, 1_000],
  [480_103_981_056, 480],
  [4_000_787_030_016, 4_000],
  [500_107_862_016, 500],
  [250_059_350_016, 240],
  [101_010_000_000, 100],
  [112_043_000_000, 112.5],
  [16_000_000_000, 16],
  [499_999_999, 0],
  [500_000_000, 1],
  [0, 0],
])("%d bytes have the nominal capacity %d GB", (bytes, gb) => expect(nominalGb(bytes)).toBe(gb));

test("classes merge if their difference is at most 5 % of the larger class", () => {
  expect(grouped(disk("a", 950), disk("b", 1_000))).toEqual(["1000: b a"]);
  expect(grouped(disk("a", 949), disk("b", 1_000))).toEqual(["949: a", "1000: b"]);
  expect(grouped(disk("a", 1_000), disk("b", 949))).toEqual(["1000: a", "949: b"]);
});

test("merged classes get the size of the class with more disks, or of the later class if both have equally many disks", () => {
  expect(grouped(disk("a", 100), disk("b", 100), disk("c", 104))).toEqual(["100: a b c"]);
  expect(grouped(disk("a", 100), disk("b", 104))).toEqual(["104: b a"]);
});

test("if each class is within 5 % of the next class, the order of the disks decides which classes merge", () => {
  expect(grouped(disk("a", 100), disk("b", 105), disk("c", 110))).toEqual(["105: b a c"]);
  expect(grouped(disk("b", 105), disk("c", 110), disk("a", 100))).toEqual(["110: c b", "100: a"]);
});

test("solid state disks and spinning disks never share a class; the disks of a class may have different bus types", () => {
  expect(grouped(disk("a", 480), disk("b", 480, { solid_state: true }))).toEqual(["480: a", "480: b"]);
  expect(grouped(disk("a", 480), disk("b", 480, { bus: "ATA" }))).toEqual(["480: b a"]);
});

test("removable and tiny disks are in no class, and every other disk is in exactly one class", () => {
  const any = fc.record({ gb: fc.double({ min: 0, max: 20_000, noNaN: true }), removable: fc.boolean() });
  fc.assert(fc.property(fc.array(any, { maxLength: 40 }), (made) => {
    const disks = made.map(({ gb, removable }, index) => disk(`d${index}`, gb, { removable }));
    const usable = disks.filter((one) => !one.removable && nominalGb(one.size_bytes) > 0).map(({ name }) => name);
    const classed = sizeClasses(disks).flatMap((one) => one.disks).map(({ name }) => name);
    expect(classed.toSorted()).toEqual(usable.toSorted());
  }));
});
