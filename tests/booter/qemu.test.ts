// A machine of QEMU boots through the real booter on a network of its own. UEFI machines and killed booters are for
// `deno task trial`.
import { expect, test } from "vitest";
import { boots, openNetbootFixture, whyNoNetboot } from "./netboot-fixture.ts";

const MAC = "52:54:00:aa:00:01";
const why_not = await whyNoNetboot(["bios"]);

test(
  "a BIOS machine that nobody has seen before enrols: DHCP, script, kernel and archive come from the booter",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const lab = await openNetbootFixture();
    try {
      expect(await boots(lab, { mac: MAC, mode: "bios" }), lab.booter().text()).toBe(true);
      const { body } = await lab.t.call("GET", `/v2/cn-boot/${MAC}`);
      expect([body.state, body.address]).toEqual(["enrolling", "10.77.0.10"]);
      expect(lab.booter().text()).toMatch(/script\.served mac=52:54:00:aa:00:01 address=10\.77\.0\.10 kind=enrol/);
    } finally {
      await lab.close();
    }
  },
  300_000,
);

test(
  "a machine whose SMBIOS UUID spells its service tag enrols by a policy of tags alone, and fetches its script once",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const lab = await openNetbootFixture([{ kind: "service_tag", value: "D34623J" }]);
    try {
      const uuid = "4c4c4544-0033-3410-8036-c4c04f32334a";
      expect(await boots(lab, { mac: MAC, mode: "bios", uuid }), lab.booter().text()).toBe(true);
      const { body } = await lab.t.call("GET", `/v2/cn-boot/${MAC}`);
      expect([body.state, body.address]).toEqual(["enrolling", "10.77.0.10"]);
      expect(lab.booter().text()).not.toContain("ticket_");
    } finally {
      await lab.close();
    }
  },
  300_000,
);
