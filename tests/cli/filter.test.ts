// --filter compares sizes and ages as the tables show them, and rejects a value that cannot be compared.
import { describe, expect, test } from "vitest";
import { opsctl } from "./opsctl.ts";
import { node } from "./records.ts";
import { KEY_ENV, tenantctl } from "./tenantctl/run.ts";

const NOW_MS = Date.parse("2026-11-21T13:00:00Z");
const GIB = 2 ** 30;

const NODES = [
  node({ hostname: "fresh", last_seen: "2026-11-21T12:59:57Z", registered_at: "2026-11-21T12:45:00Z" }),
  node({ hostname: "late", last_seen: "2026-11-21T12:50:00Z", registered_at: "2026-11-19T10:00:00Z" }),
  node({ hostname: "never", last_seen: null, registered_at: "2026-11-21T09:55:00Z" }),
];

async function nodes(filter: string) {
  return await opsctl(["cn", "list", "-o", "name", "--filter", filter], {
    server: () => ({ body: { items: NODES } }),
    wall_ms: NOW_MS,
  });
}

const disk = (name: string, size_bytes: number) => ({ id: name, name, instance: "i1", kind: "data", size_bytes });
const DISKS = [disk("tiny", 10), disk("small", GIB), disk("large", 1.5 * GIB)];

async function disks(filter: string, body: readonly unknown[] = DISKS) {
  return await tenantctl(
    ["disk", "list", "--instance", "3f2a9c1e-0000-4000-8000-000000000001", "-o", "name", "--filter", filter],
    { server: () => ({ body: { items: body } }), env: KEY_ENV, wall_ms: NOW_MS },
  );
}

describe("ages", () => {
  test.each([
    ["age", "fresh\nnever\nlate\n"],
    ["age:desc", "late\nnever\nfresh\n"],
    ["last_seen", "fresh\nlate\nnever\n"],
    ["last_seen:desc", "late\nfresh\nnever\n"],
    ["registered_at", "late\nnever\nfresh\n"],
  ])(
    "--sort-by %s orders by the age or time that the table shows, and a row without a value is last",
    async (by, printed) => {
      const server = () => ({ body: { items: NODES } });
      const ran = await opsctl(["cn", "list", "-o", "name", "--sort-by", by], { server, wall_ms: NOW_MS });
      expect([ran.code, ran.out()]).toEqual([0, printed]);
    },
  );

  test.each([
    ["last_seen>5m", "late\n"],
    ["last_seen<5m", "fresh\n"],
    ["last_seen>=10m", "late\n"],
    ["age>1h", "late\nnever\n"],
    ["age>3h", "late\nnever\n"],
    ["age>3h5m", "late\n"],
    ["age>2d", "late\n"],
    ["age=15m", "fresh\n"],
    ["age!=15m", "late\nnever\n"],
    ["last_seen>2026-11-21T12:55:00Z", "fresh\n"],
    ["registered_at<2026-11-20", "late\n"],
  ])("--filter %s keeps the rows whose age or time fits", async (filter, printed) => {
    const ran = await nodes(filter);
    expect([ran.code, ran.err(), ran.out()]).toEqual([0, "", printed]);
  });
});

describe("sizes", () => {
  test.each([
    ["size>1GiB", "large\n"],
    ["size<1GiB", "tiny\n"],
    ["size>10B", "small\nlarge\n"],
    ["size>=1GiB", "small\nlarge\n"],
    ["size<=1GiB", "tiny\nsmall\n"],
    ["size>0.5GiB", "small\nlarge\n"],
    ["size>1073741824", "large\n"],
    ["size=1024MiB", "small\n"],
    ["size=1.5gib", "large\n"],
    ["size!=1GiB", "tiny\nlarge\n"],
    ["size~GiB", "small\nlarge\n"],
    ["size_bytes>1GiB", "large\n"],
  ])("--filter %s keeps the rows whose size fits", async (filter, printed) => {
    const ran = await disks(filter);
    expect([ran.code, ran.err(), ran.out()]).toEqual([0, "", printed]);
  });
});

test.each([
  ["size>banana", "size is a size; write 512MiB, 4GiB or a number of bytes, not banana"],
  ["size<", "size is a size; write 512MiB, 4GiB or a number of bytes, not"],
  ["size_bytes>4GB", "size_bytes is a number, not 4GB"],
])("--filter %s is a usage error; a wrong size is an error even for an empty list", async (filter, message) => {
  const ran = await disks(filter);
  expect([ran.code, ran.out()]).toEqual([2, ""]);
  expect(ran.err()).toContain(`error: --filter ${filter}: ${message}`);
  if (!filter.startsWith("size_bytes")) expect((await disks(filter, [])).code).toBe(2);
});

test.each([
  ["last_seen>soon", "last_seen is an age; write 90s, 30m, 12h or 7d, not soon"],
  ["registered_at>1h", "registered_at is a time; write 2026-09-01 or 2026-09-01T12:00:00Z, not 1h"],
])("--filter %s is a usage error", async (filter, message) => {
  const ran = await nodes(filter);
  expect([ran.code, ran.out()]).toEqual([2, ""]);
  expect(ran.err()).toContain(message);
});

test("a text is compared alphabetically, and the numbers in the text by their value", async () => {
  const ran = await nodes("hostname>late");
  expect(ran.out()).toBe("never\n");
});
