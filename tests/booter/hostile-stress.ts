// A million mutated DHCP packets, AMQP frames and TFTP packets, in this process: no exception escapes, only the machine
// that may boot gets a DHCP reply, and memory use stays flat.
import process from "node:process";
import { expect, test } from "vitest";
import { mutatedAmqp, mutatedDhcp, mutatedTftp } from "./mutations.ts";

const PACKETS = 1_000_000;
/** The number of frames in each mutated stream. */
const FRAMES = 10;
/** How much the heap may grow during the run. A run with a tenth of the packets comes first, to warm up the process. */
const GROWTH_MB_MAX = 64;

test.each([
  ["DHCP packets", PACKETS, mutatedDhcp],
  ["AMQP frames", PACKETS / FRAMES, mutatedAmqp],
  ["TFTP packets", PACKETS, mutatedTftp],
])("1,000,000 mutated %s cause no violation, and memory use stays flat", (_name, count, mutated) => {
  mutated(count / 10);
  const before = process.memoryUsage().heapUsed;
  const { reached, violations } = mutated(count);
  const grown_mb = (process.memoryUsage().heapUsed - before) / 1e6;
  console.log(`${reached} were accepted, the heap grew by ${grown_mb.toFixed(1)} MB`);
  expect(violations).toEqual([]);
  expect(reached).toBeGreaterThan(count / 100);
  expect(grown_mb).toBeLessThan(GROWTH_MB_MAX);
});
