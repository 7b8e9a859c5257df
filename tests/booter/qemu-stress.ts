// Boots machines with each kind of firmware from the real booter. Also tests records with which a machine gets no
// answer, and rescue boots with a record of each state. If the booter is killed during a boot, the machine must boot
// nevertheless.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BOOT_RECORD_STATES, type BootRecordState } from "../../src/contract/enums.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { awaitingSetup, newMachine, seen, setUp, sysinfoOf } from "../setup/machine.ts";
import { boots, MODES, type NetbootFixture, openNetbootFixture, pause, whyNoNetboot } from "./netboot-fixture.ts";

const why_not = await whyNoNetboot(MODES);
let fixture: NetbootFixture;
beforeAll(async () => {
  if (why_not === null) fixture = await openNetbootFixture();
});
afterAll(() => fixture?.close());
beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

let macs = 0;
const newMac = () => `52:54:00:aa:01:${(macs += 1).toString(16).padStart(2, "0")}`;

test.each(MODES)("a machine boots by %s", async (mode) => {
  expect(await boots(fixture, { mac: newMac(), mode }), fixture.booter().text()).toBe(true);
});

test.each(["discovered", "decommissioned"] as const)(
  "a machine with a %s record gets no address and gives up",
  async (state) => {
    const mac = newMac();
    await makeRecord(fixture.t, mac, state);
    const vm = await fixture.power(mac, "bios");
    await fixture.booter().line(new RegExp(`dhcp\\.silent mac=${mac} reason=${state}`));
    expect(await vm.prints(/No more network devices/)).toBe(true);
    expect(await vm.console()).not.toMatch(/booted|Filename/);
    await vm.off();
  },
);

test.each(BOOT_RECORD_STATES)("a machine with a %s record boots into rescue", async (state) => {
  const mac = newMac();
  await makeRecord(fixture.t, mac, state);
  okOf(await fixture.t.call("POST", `/v2/cn-boot/${mac}/rescue`));
  expect(await boots(fixture, { mac, mode: "bios" }), fixture.booter().text()).toBe(true);
  expect(fixture.booter().text()).toMatch(new RegExp(`script\\.served mac=${mac} address=\\S+ kind=rescue`));
});

describe("the booter is killed", () => {
  // The last column is the number of bytes that are sent before the kill. TFTP sends a program of 200 kB, and HTTP an
  // archive of 3 MB.
  test.each(
    [
      ["TFTP", "uefi", 60_000],
      ["HTTP", "bios", 1_500_000],
    ] as const,
  )("during a download by %s, and the machine boots eventually", async (_name, mode, bytes) => {
    const mac = newMac();
    const running = await fixture.power(mac, mode);
    while (await running.received() < bytes) await pause(5);
    await fixture.restart();
    expect(await running.console()).not.toContain("booted");
    // If the firmware gave up, the test starts the machine again, because an operator would do so.
    const booted = await boots(fixture, { mac, mode, running }) || await boots(fixture, { mac, mode });
    expect(booted, fixture.booter().text()).toBe(true);
  });
});

async function makeRecord(t: TestControlPlane, mac: string, state: BootRecordState): Promise<void> {
  // Every record gets its address first, because a rescue boot needs an address.
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
