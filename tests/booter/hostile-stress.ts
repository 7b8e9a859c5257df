// Feeds mutated packets to the parsers in this process: a million DHCP packets, a million AMQP frames and a million
// TFTP packets. No exception may escape, only the machine that may boot may get a DHCP reply, and the heap may grow
// only a little.
import process from "node:process";
import { expect, test } from "vitest";
import { mutatedAmqp, mutatedDhcp, mutatedTftp } from "./mutations.ts";

const PACKETS = 1_000_000;
/** The number of frames in each mutated stream. */
const FRAMES = 10;
/**
 * The limit for the growth of the heap during the run. A shorter run with a tenth of the packets warms up the process
 * first.
 */
const GROWTH_MB_MAX = 64;

test.each([
  ["DHCP packets", PACKETS, mutatedDhcp],
  ["AMQP frames", PACKETS / FRAMES, mutatedAmqp],
  ["TFTP packets", PACKETS, mutatedTftp],
])("1,000,000 mutated %s cause no violation, and the heap grows by less than 64 MB", (_name, count, mutated) => {
  mutated(count / 10);
  const before = process.memoryUsage().heapUsed;
  const { reached, violations } = mutated(count);
  const grown_mb = (process.memoryUsage().heapUsed - before) / 1e6;
  console.log(`${reached} were accepted, the heap grew by ${grown_mb.toFixed(1)} MB`);
  expect(violations).toEqual([]);
  expect(reached).toBeGreaterThan(count / 100);
  expect(grown_mb).toBeLessThan(GROWTH_MB_MAX);
});
