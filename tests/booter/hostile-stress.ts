// A million mutated packets or frames of each kind, in process: no exception escapes, only machines that the control
// plane admits get a reply, and memory use stays flat.
import process from "node:process";
import { expect, test } from "vitest";
import { mutatedAmqp, mutatedDhcp, mutatedTftp } from "./mutations.ts";

const PACKETS = 1_000_000;
/** The number of frames in each mutated stream. */
const FRAMES = 10;
/** How much the heap may grow after the first tenth of the packets, which warms up the process. */
const GROWTH_MB_MAX = 64;

test.each([
  ["DHCP packets", PACKETS, mutatedDhcp],
  ["AMQP frames", PACKETS / FRAMES, mutatedAmqp],
  ["TFTP packets", PACKETS, mutatedTftp],
])("1,000,000 mutated %s break no rule, and memory use stays flat", (_name, count, mutated) => {
  mutated(count / 10);
  const before = process.memoryUsage().heapUsed;
  const { reached, violations } = mutated(count);
  const grown_mb = (process.memoryUsage().heapUsed - before) / 1e6;
  console.log(`${reached} got past the first check, the heap grew by ${grown_mb.toFixed(1)} MB`);
  expect(violations).toEqual([]);
  expect(reached).toBeGreaterThan(count / 100);
  expect(grown_mb).toBeLessThan(GROWTH_MB_MAX);
});
