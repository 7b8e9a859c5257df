// A QEMU machine boots through the real booter in a network namespace. `deno task trial` covers UEFI machines and
// killed booters.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { boots, openNetbootFixture, whyNoNetboot } from "./netboot-fixture.ts";

const MAC = "52:54:00:aa:00:01";
const why_not = await whyNoNetboot(["bios"]);

test(
  "a new BIOS machine enrols with DHCP, script, kernel and archive from the booter",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const fixture = await openNetbootFixture();
    try {
      expect(await boots(fixture, { mac: MAC, mode: "bios" }), fixture.booter().text()).toBe(true);
      const { body } = await fixture.t.call("GET", `/v2/cn-boot/${MAC}`);
      expect([body.state, body.address]).toEqual(["enrolling", "10.77.0.10"]);
      expect(fixture.booter().text()).toMatch(/script\.served mac=52:54:00:aa:00:01 address=10\.77\.0\.10 kind=enrol/);
    } finally {
      await fixture.close();
    }
  },
  300_000,
);

test(
  "an allowlist of service tags admits a machine whose SMBIOS UUID contains its tag, and the machine fetches its script once",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const fixture = await openNetbootFixture({ allowlist: [{ kind: "service_tag", value: "D34623J" }] });
    try {
      const uuid = "4c4c4544-0033-3410-8036-c4c04f32334a";
      expect(await boots(fixture, { mac: MAC, mode: "bios", uuid }), fixture.booter().text()).toBe(true);
      const { body } = await fixture.t.call("GET", `/v2/cn-boot/${MAC}`);
      expect([body.state, body.address]).toEqual(["enrolling", "10.77.0.10"]);
      expect(fixture.booter().text()).not.toContain("ticket_");
    } finally {
      await fixture.close();
    }
  },
  300_000,
);

test(
  "a machine that boots from the second port of its aggregate gets the address of the first port's record",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const fixture = await openNetbootFixture();
    try {
      const macs = ["52:54:00:aa:00:aa", MAC];
      const body = [{ hostname: "node-7", macs, aggregate: { name: "aggr0", mode: "active", macs } }];
      okOf(await fixture.t.call("PUT", "/v2/cn-boot-roster", { body }));
      expect(await boots(fixture, { mac: MAC, mode: "bios" }), fixture.booter().text()).toBe(true);
      const record = okOf(await fixture.t.call("GET", `/v2/cn-boot/${macs[0]}`));
      expect([record.state, record.address]).toEqual(["enrolling", "10.77.0.10"]);
      expect((await fixture.t.call("GET", `/v2/cn-boot/${MAC}`)).status).toBe(404);
    } finally {
      await fixture.close();
    }
  },
  300_000,
);

// In the next test, the kernel of the image is an iPXE script. `deno task test:nightly` boots a real kernel.
test(
  "iPXE loads the kernel, the archive and the machine's own files of a Linux node image",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const fixture = await openNetbootFixture({ kind: "linux" });
    try {
      expect(await boots(fixture, { mac: MAC, mode: "bios" }), fixture.booter().text()).toBe(true);
      expect(fixture.booter().text()).toMatch(/script\.served mac=52:54:00:aa:00:01 .* stamp=20261101T000000Z/);
      expect(fixture.booter().text()).not.toContain("http.refused");
    } finally {
      await fixture.close();
    }
  },
  300_000,
);
