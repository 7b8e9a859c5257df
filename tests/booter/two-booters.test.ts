// Tests two booters on one network. A machine boots from one of them, and from the other booter after the first booter
// was killed.
import { expect, test } from "vitest";
import { boots, openNetbootFixture, whyNoNetboot } from "./netboot-fixture.ts";

const MAC = "52:54:00:aa:06:01";
const SERVED = new RegExp(`script\\.served mac=${MAC}`, "g");
const why_not = await whyNoNetboot(["bios"]);

test(
  "a machine boots from exactly one of two booters; if this booter is killed, the machine boots from the other booter with the same address",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const fixture = await openNetbootFixture();
    try {
      const second = await fixture.second();
      const served = () => [fixture.booter(), second].map((booter) => booter.text().match(SERVED)?.length ?? 0);
      const logs = () => `${fixture.booter().text()}\n${second.text()}`;
      expect(await boots(fixture, { mac: MAC, mode: "bios" }), logs()).toBe(true);
      const first_boot = served();
      expect([...first_boot].sort()).toEqual([0, 1]);
      const { address } = (await fixture.t.call("GET", `/v2/cn-boot/${MAC}`)).body;

      // Kills the booter that served the machine. Then the other booter must serve it.
      await (first_boot[0] === 1 ? fixture.booter() : second).kill();
      expect(await boots(fixture, { mac: MAC, mode: "bios" }), logs()).toBe(true);
      expect(served()).toEqual([1, 1]);
      expect((await fixture.t.call("GET", `/v2/cn-boot/${MAC}`)).body.address).toBe(address);
      // Each booter has its own list of staged images.
      const { rows } = await fixture.t.db.query<{ n: number }>("select count(*)::int as n from staging");
      expect(rows).toEqual([{ n: 2 }]);
    } finally {
      await fixture.close();
    }
  },
  300_000,
);
