// Tests the step of the setup script that sets the clock of a machine with a Linux node image. Such a machine takes its
// time from the hardware clock at each boot. setup-script.test.ts tests the clock of a SmartOS machine.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { lacking, needs } from "../support/optional-programs.ts";
import {
  type Ended,
  NEEDED,
  openScratchMachine,
  type ScratchMachine,
  type ScratchMachineFixture,
  STAMP,
} from "./scratch-machine.ts";

const why_not = lacking(...NEEDED);
let fixture: ScratchMachineFixture;
beforeAll(async () => {
  if (why_not === null) fixture = await openScratchMachine();
});
afterAll(() => fixture?.close());
beforeEach((context) => needs(context, ...NEEDED));

/** Runs the script on a machine that booted another image. So the run ends before it changes disks. */
async function setClock(machine: ScratchMachine): Promise<Ended> {
  await mkdir(join(machine.root, "disk/etc/berth"), { recursive: true });
  await writeFile(join(machine.root, "disk/etc/berth/boot.properties"), "platform_stamp=other\n");
  const ended = await machine.start();
  expect([ended.code, machine.reports.at(-1)?.text]).toEqual([1, `images: the machine runs other, not ${STAMP}`]);
  return ended;
}

test("the setup also writes the booter's time to the hardware clock", async () => {
  const { calls, err } = await setClock(await fixture.machine());
  expect(calls).toEqual(["date -u 112112452026.14", "busybox hwclock -u -w"]);
  expect(err).not.toContain("hardware clock");
});

test("the setup continues if the hardware clock cannot be set, and logs the failure", async () => {
  const machine = await fixture.machine();
  await machine.put("fail_at", "2");
  expect((await setClock(machine)).err).toMatch(/busybox: made to fail\nclock: the hardware clock could not be set/);
});
