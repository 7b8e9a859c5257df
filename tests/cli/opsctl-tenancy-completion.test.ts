// Completion offers the tenancy records of the control plane.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Project, Silo } from "../../src/contract/tenancy.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
let north: Silo;
let south: Silo;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  north = await at.json("silo create north");
  south = await at.json("silo create south");
  await at.printed("tenant create shop --silo north");
});
afterAll(() => t?.close());

async function completed(argv: string): Promise<string[]> {
  const ran = await at.run(["__complete", "--", ...argv.split(" ")]);
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  return ran.out().split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]!);
}

test("completion offers silos by name and id, as an argument and as the value of an option", async () => {
  expect(await completed("silo show ")).toEqual(["north", "south", north.id, south.id]);
  expect(await completed("tenant create x --silo no")).toEqual(["north"]);
  expect(await completed("external-subnet create x --owner-silo so")).toEqual(["south"]);
});

test("if several silos have a tenant with the same name, the tenant is offered with its silo", async () => {
  const names = (await completed("tenant show ")).filter((each) => !/^[0-9a-f]{8}-/.test(each));
  expect(names).toEqual(["north/default", "shop", "south/default"]);
  expect(await completed(`project list --tenant ${south.default_tenant_id.slice(0, -1)}`))
    .toEqual([south.default_tenant_id]);
});

test("completion offers projects for the project and quota commands; an ambiguous name is offered with its silo and tenant", async () => {
  for (const tenant of ["shop", "south/default"]) await at.printed(`project create web --tenant ${tenant}`);
  const till = await at.json<Project>("project create till --tenant shop");
  expect(await completed("project delete north")).toEqual(["north/shop/web"]);
  expect(await completed("quota set t")).toEqual(["till"]);
  expect(await completed(`quota show ${till.id}`)).toEqual([till.id]);
});

test("if a name has characters that are special in a shell, only the id of the record is offered", async () => {
  const odd = await at.run(["silo", "create", "$(reboot) now", "--json"]);
  const { id } = JSON.parse(odd.out()) as Silo;
  const offered = await completed("silo show ");
  expect(offered).toContain(id);
  expect(offered.filter((each) => each.includes("reboot"))).toEqual([]);
});

test("completion offers users, capabilities, NIC tags, external subnets and pools", async () => {
  await at.printed("user create ada --password-stdin", { typed: "correct horse battery" });
  await at.printed("nic-tag create uplink --mtu 1500");
  await at.printed("external-subnet create outside --nic-tag uplink --ipv4-block 198.51.100.0/24");
  await at.printed("network-pool create public --network outside");
  expect(await completed("user show ad")).toEqual(["ada"]);
  expect(await completed("user grant ada system-")).toEqual(["system-read", "system-operate", "system-config-write"]);
  expect(await completed("user create x --capability st")).toEqual(["storage-admin"]);
  expect(await completed("nic-tag delete u")).toEqual(["uplink"]);
  expect(await completed("external-subnet create x --nic-tag u")).toEqual(["uplink"]);
  expect(await completed("network-pool create x --network o")).toEqual(["outside"]);
  expect(await completed("network-pool show p")).toEqual(["public"]);
});
