import fc from "fast-check";
import { expect, test } from "vitest";
import { disksOf } from "../../src/lib/disk-layout/disks.ts";
import { macsOf } from "../../src/lib/net/sysinfo-macs.ts";
import { serialOf } from "../../src/lib/ids/sysinfo-serial.ts";

const nics = (...macs: unknown[]) => ({
  "Network Interfaces": Object.fromEntries(macs.map((mac, index) => [`net${index}`, { "MAC Address": mac }])),
});

test("disks are listed in the order of the inventory, with whole GB", () => {
  const Disks = {
    c1: { "Size in GB": 480 },
    c0: { "Size in GB": "600" },
    c2: { "Size in GB": 959.9 },
  };
  expect(disksOf({ Disks })).toEqual([
    { name: "c1", size_gb: 480 },
    { name: "c0", size_gb: 600 },
    { name: "c2", size_gb: 959 },
  ]);
});

test.each([null, -1, "", "6e2", "600 GB", true, {}, 1e16, Number.MAX_VALUE])(
  "a disk with the invalid size %j is listed with 0 GB",
  (size) => {
    expect(disksOf({ Disks: { c0: { "Size in GB": size } } })).toEqual([{ name: "c0", size_gb: 0 }]);
  },
);

test("a disk named __proto__ is listed like any other disk", () => {
  const sysinfo = JSON.parse('{"Disks":{"__proto__":{"Size in GB":480},"":{"Size in GB":1},"c1":480}}');
  expect(disksOf(sysinfo)).toEqual([{ name: "__proto__", size_gb: 480 }, { name: "c1", size_gb: 0 }]);
});

test("MACs are canonical, and listed once each in the order of the inventory", () => {
  expect(macsOf(nics("02-AA-BB-CC-DD-02", "02aabbccdd01", "02:aa:bb:cc:dd:02", " 02:aa:bb:cc:dd:03\n")))
    .toEqual(["02:aa:bb:cc:dd:02", "02:aa:bb:cc:dd:01", "02:aa:bb:cc:dd:03"]);
});

test("zero, group and malformed MACs and the MACs of virtual interfaces are not listed", () => {
  const sysinfo = {
    ...nics("00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "net0", null, 17, ["02aabbccdd01"]),
    "Virtual Network Interfaces": { vnic0: { "MAC Address": "02:aa:bb:cc:dd:05" } },
  };
  expect(macsOf(sysinfo)).toEqual([]);
});

test("a serial number is a text, returned without surrounding space", () => {
  expect(serialOf({ "Serial Number": " ABC1234 " })).toBe("ABC1234");
  for (const serial of ["", "  ", 7, null, ["x"]]) expect(serialOf({ "Serial Number": serial })).toBeNull();
});

test("no parser throws, whatever the inventory", () => {
  const key = fc.constantFrom("Disks", "Network Interfaces", "Serial Number", "net0", "MAC Address", "Size in GB");
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.dictionary(key, tie("tree"))),
  }));
  fc.assert(fc.property(fc.oneof(tree, fc.constant(undefined)), (sysinfo) => {
    for (const { name, size_gb } of disksOf(sysinfo)) {
      expect(typeof name).toBe("string");
      expect(Number.isSafeInteger(size_gb) && size_gb >= 0).toBe(true);
    }
    for (const mac of macsOf(sysinfo)) expect(mac).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
    expect([null, "string"]).toContain(serialOf(sysinfo) === null ? null : typeof serialOf(sysinfo));
  }));
});
