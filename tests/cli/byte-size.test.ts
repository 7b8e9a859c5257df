// Sizes are parsed and printed, and a usage is printed as a percentage of its limit.
import { expect, test } from "vitest";
import { byteSizeText, exactSizeText, parseByteSize } from "../../cli/internal/byte-size.ts";
import { quotaText } from "../../cli/internal/quota.ts";

test.each([
  ["0", 0],
  ["0B", 0],
  ["64B", 64],
  ["1048576", 1_048_576],
  ["1KiB", 1024],
  ["64GiB", 68_719_476_736],
  ["64 gib", 68_719_476_736],
  ["1.5TiB", 1_649_267_441_664],
  ["0.5KiB", 512],
  ["7PiB", 7_881_299_347_898_368],
])("%s is parsed as %d bytes", (text, bytes) => expect(parseByteSize(text, "--memory")).toBe(bytes));

test.each(["", "GiB", "64GB", "64G", "1,5GiB", "-1", "1e3", "0.3KiB", "1.5", "8PiB", "0x10"])(
  "the size %j is rejected",
  (text) =>
    expect(() => parseByteSize(text, "--memory")).toThrow("--memory must be a number of bytes or a size such as"),
);

test.each([
  ["1", "1GiB"],
  ["127", "127GiB"],
  ["128", "128MiB or 128GiB"],
  ["1023", "1023MiB or 1023GiB"],
  ["1024", "1024MiB"],
  ["1048575", "1048575MiB"],
])("%s without a unit is rejected, and the error suggests %s", (text, meant) => {
  expect(() => parseByteSize(text, "--memory")).toThrow(
    `--memory ${text} has no unit and would be ${text}B; did you mean ${meant}?`,
  );
});

test.each([
  [0, "0B"],
  [1023, "1023B"],
  [1_610_612_736, "1.5GiB (1610612736 bytes)"],
  [1_610_612_737, "1.5GiB (1610612737 bytes)"],
])("in the output of one record, a size of %d bytes is printed rounded and exactly: %s", (bytes, text) => {
  expect(exactSizeText(bytes)).toBe(text);
});

test.each([[0, "0"], [1000, "1000B"], [1024, "1KiB"], [1536, "1536B"], [1_048_577, "1048577B"], [
  1_649_267_441_664,
  "1536GiB",
]])(
  "%d bytes are printed as %s, which parses to the same size",
  (bytes, text) => {
    expect(byteSizeText(bytes)).toBe(text);
    expect(parseByteSize(text, "--memory")).toBe(bytes);
  },
);

test.each([
  [0, 1000, "0%"],
  [1, 1000, "<1%"],
  [10, 1000, "1%"],
  [999, 1000, "99%"],
  [1000, 1000, "100%"],
  [1250, 1000, "125%"],
  [5, 0, "-"],
])("a usage of %d with a limit of %d is printed as %s", (used, limit, percent) => {
  const none = { memory_bytes: 0, disk_bytes: 0 };
  const usage = { cpu: used, instances: 0, ...none };
  const quota = { tenant_id: "t", project_id: "p", cpu_limit: limit, instance_limit: 0, ...none, used: usage };
  expect(quotaText({ ...quota, updated_at: "2026-11-21T10:00:00Z" }).split("\n")[1]!.split(/ +/)).toEqual([
    "cpu",
    String(limit),
    String(used),
    percent,
  ]);
});
