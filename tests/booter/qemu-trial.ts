// Machines of every kind before the real booter, records that get nothing, rescue in every state, and boots in whose
// middle the booter is killed: the machine boots in the end.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BOOT_RECORD_STATES, type BootRecordState } from "../../src/contract/enums.ts";
import { okOf, type TestPlane } from "../support/control-plane.ts";
import { awaitingSetup, newMachine, seen, setUp, sysinfoOf } from "../setup/machine.ts";
import { boots, MODES, type NetbootFixture, openNetbootFixture, pause, whyNoNetboot } from "./netboot-fixture.ts";

const why_not = await whyNoNetboot(MODES);
let lab: NetbootFixture;
beforeAll(async () => {
  if (why_not === null) lab = await openNetbootFixture();
});
afterAll(() => lab?.close());
beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

let macs = 0;
const newMac = () => `52:54:00:aa:01:${(macs += 1).toString(16).padStart(2, "0")}`;

test.each(MODES)("a machine boots by %s", async (mode) => {
  expect(await boots(lab, { mac: newMac(), mode }), lab.booter().text()).toBe(true);
});

test.each(["discovered", "decommissioned"] as const)(
  "a machine that is %s gets no address, and gives up",
  async (state) => {
    const mac = newMac();
    await makeRecord(lab.t, mac, state);
    const vm = await lab.power(mac, "bios");
    await lab.booter().line(new RegExp(`dhcp\\.silent mac=${mac} reason=${state}`));
    expect(await vm.says(/No more network devices/)).toBe(true);
    expect(await vm.console()).not.toMatch(/booted|Filename/);
    await vm.off();
  },
);

test.each(BOOT_RECORD_STATES)("a machine that is %s boots into rescue", async (state) => {
  const mac = newMac();
  await makeRecord(lab.t, mac, state);
  okOf(await lab.t.call("POST", `/v2/cn-boot/${mac}/rescue`));
  expect(await boots(lab, { mac, mode: "bios" }), lab.booter().text()).toBe(true);
  expect(lab.booter().text()).toMatch(new RegExp(`script\\.served mac=${mac} address=\\S+ kind=rescue`));
});

describe("the booter is killed", () => {
  // What was sent by then: part of the program of 200 kB, part of the archive of 3 MB.
  test.each(
    [
      ["TFTP", "uefi", 60_000],
      ["HTTP", "bios", 1_500_000],
    ] as const,
  )("in the middle of %s, and the machine boots in the end", async (_name, mode, bytes) => {
    const mac = newMac();
    const running = await lab.power(mac, mode);
    while (await running.received() < bytes) await pause(5);
    await lab.restart();
    expect(await running.console()).not.toContain("booted");
    // Firmware that gave up is started again, as somebody would who finds the machine so.
    const in_the_end = await boots(lab, { mac, mode, running }) || await boots(lab, { mac, mode });
    expect(in_the_end, lab.booter().text()).toBe(true);
  });
});

async function makeRecord(t: TestPlane, mac: string, state: BootRecordState): Promise<void> {
  // Every record begins with an address, since rescue gives none.
  okOf(await seen(t, mac));
  switch (state) {
    case "enrolling":
      return;
    case "discovered":
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/decommission`));
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/reactivate`));
      return;
    case "decommissioned":
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/decommission`));
      return;
    case "enrolled":
      await setUp(t, await awaitingSetup(t, { ...newMachine(1), macs: [mac], sysinfo: sysinfoOf([mac]) }));
  }
}
