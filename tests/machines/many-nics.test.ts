// A VM with the largest number of NICs starts, and its guest sees all of them.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EXTRA_NICS_MAX } from "../../src/contract/limits.ts";
import { inGuest, needsMachine, openMachine, ready, type TestMachine } from "./machine.ts";

let machine: TestMachine | undefined;

beforeEach(needsMachine);
afterEach(() => machine?.remove());

test("the guest of a VM with the largest number of NICs has all of them, in their order", async () => {
  machine = await openMachine({ halt_wait_ms: 500 });
  const [first] = (await machine.plan()).nics;
  const macs = Array.from({ length: 1 + EXTRA_NICS_MAX }, (_, index) => `02:00:00:00:01:${hex(index)}`);
  const nics = macs.map((mac, index) => ({
    ...first!,
    id: randomUUID(),
    name: `net${index}`,
    mac,
    primary_ipv4: `10.0.1.${index + 5}`,
  }));
  const id = await machine.create({ nics });
  await ready(machine.driver(), id);
  const command = "for i in $(seq 0 31); do cat /sys/class/net/eth$i/address; done";
  expect((await inGuest(machine.driver(), id, command)).split(/\s+/)).toEqual(macs);
});

function hex(index: number): string {
  return index.toString(16).padStart(2, "0");
}
