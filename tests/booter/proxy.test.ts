// Machines boot on a network with another DHCP server. dnsmasq assigns the addresses, and the booter names the
// boot files.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { lacking } from "../support/optional-programs.ts";
import { boots, MODES, type NetbootFixture, openNetbootFixture, pause, whyNoNetboot } from "./netboot-fixture.ts";

const why_not = await whyNoNetboot(MODES) ?? lacking("dnsmasq");
let fixture: NetbootFixture;
beforeAll(async () => {
  if (why_not === null) fixture = await openNetbootFixture({ is_proxy: true });
});
afterAll(() => fixture?.close());
beforeEach((context) => context.skip(why_not !== null, why_not ?? ""));

test.each(MODES.map((mode, index) => [mode, `52:54:00:aa:04:0${index}`] as const))(
  "a machine boots by %s with an address of the other server",
  async (mode, mac) => {
    expect(await boots(fixture, { mac, mode }), fixture.booter().text()).toBe(true);
    const { body } = await fixture.t.call("GET", `/v2/cn-boot/${mac}`);
    expect([body.state, body.address]).toEqual(["enrolling", expect.stringMatching(/^10\.77\.0\.\d\d$/)]);
    expect(fixture.booter().text()).toMatch(new RegExp(`script\\.served mac=${mac} address=10\\.77\\.0\\.1[5-9]\\d`));
  },
  300_000,
);

test(
  "a machine boots although the booter is killed and restarted during the machine's download, because the booter remembers the machine's address",
  async () => {
    const mac = "52:54:00:aa:04:0f";
    const running = await fixture.power(mac, "bios");
    while (await running.received() < 1_500_000) await pause(5);
    await fixture.restart();
    expect(await running.console()).not.toContain("booted");
    expect(await boots(fixture, { mac, mode: "bios", running }), fixture.booter().text()).toBe(true);
  },
  300_000,
);
