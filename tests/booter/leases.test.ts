// The booter remembers the addresses that another DHCP server gave to machines.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLeases } from "../../booter/dhcp/leases.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const A = "52:54:00:aa:00:0a";
const B = "52:54:00:aa:00:0b";
const C = "52:54:00:aa:00:0c";

let folder: TemporaryFolder;
beforeEach(async () => void (folder = await temporaryFolder("leases")));
afterEach(() => folder.remove());

test("an address belongs to the machine that got it last, even after the file is read again", async () => {
  const leases = await openLeases(folder.path);
  leases.learned(A, "10.0.0.1");
  leases.learned(B, "10.0.0.2");
  leases.learned(A, "10.0.0.3");
  leases.learned(C, "10.0.0.2");
  await leases.saved();
  for (const each of [leases, await openLeases(folder.path)]) {
    expect([A, B, C].map((mac) => each.addressOf(mac))).toEqual(["10.0.0.3", null, "10.0.0.2"]);
    expect([1, 2, 3].map((last) => each.macOf(`10.0.0.${last}`))).toEqual([null, C, A]);
  }
});

test("when the number of machines exceeds its maximum, the machine that was learned first is forgotten", async () => {
  const leases = await openLeases(folder.path, 2);
  for (const [index, mac] of [A, B, C].entries()) leases.learned(mac, `10.0.0.${index}`);
  expect([A, B, C].map((mac) => leases.addressOf(mac))).toEqual([null, "10.0.0.1", "10.0.0.2"]);
  await leases.saved();
});

test.each(["", "{", "{}", '[["x", "10.0.0.1"], ["52:54:00:aa:00:0a", "no"], 7]'])(
  "a damaged file (%j) counts as empty",
  async (text) => {
    await writeFile(join(folder.path, "leases.json"), text);
    expect((await openLeases(folder.path)).addressOf(A)).toBeNull();
  },
);
