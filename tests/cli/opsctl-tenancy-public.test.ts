// Tests the commands for public addresses: NIC tags, external subnets and network pools (docs/networking.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExternalSubnet, NetworkPool, NicTag } from "../../src/contract/external-network.ts";
import type { Silo } from "../../src/contract/tenancy.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
let tag: NicTag;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  tag = await at.json("nic-tag create uplink --mtu 1500");
});
afterAll(() => t?.close());

test("a NIC tag is created, listed, shown and deleted", async () => {
  const made = await at.printed(["nic-tag", "create", "storage", "--mtu", "9000", "--description", "Disks"]);
  const storage = await at.json<NicTag>("nic-tag show storage");
  expect(made).toBe(`Created NIC tag storage (${storage.id})\n`);
  expect(storage).toMatchObject({ name: "storage", mtu: 9000, description: "Disks" });
  expect(await at.json(`nic-tag show ${storage.id}`)).toEqual(storage);
  const lines = (await at.printed("nic-tag list")).split("\n");
  expect(lines[0]).toMatch(/^NAME +ID +MTU +AGE +DESCRIPTION$/);
  expect(lines.find((line) => line.startsWith("storage "))).toMatch(/ 9000 .* Disks$/);
  expect(await at.printed("nic-tag delete storage")).toBe(`Deleted NIC tag storage (${storage.id})\n`);
  expect((await at.run("nic-tag show storage")).code).toBe(3);
});

test("an external subnet is created with every option, listed, shown and deleted", async () => {
  const silo = await at.json<Silo>("silo create owner");
  const made = await at.printed([
    ...["external-subnet", "create", "all", "--nic-tag", "uplink", "--vlan-id", "12", "--owner-silo", "owner"],
    ...["--ipv4-block", "198.51.100.0/24", "--provision-start-ipv4", "198.51.100.10"],
    ...["--provision-end-ipv4", "198.51.100.20", "--ipv6-block", "2001:db8:5::/64"],
    ...["--provision-start-ipv6", "2001:db8:5::10", "--provision-end-ipv6", "2001:db8:5::20", "--description", "Both"],
  ]);
  const subnet = await at.json<ExternalSubnet>("external-subnet show all");
  expect(made).toBe(`Created external subnet all (${subnet.id})\n`);
  expect(subnet).toMatchObject({
    nic_tag: "uplink",
    vlan_id: 12,
    ipv4_block: "198.51.100.0/24",
    provision_start_ipv4: "198.51.100.10",
    provision_end_ipv4: "198.51.100.20",
    ipv6_block: "2001:db8:5::/64",
    provision_start_ipv6: "2001:db8:5::10",
    provision_end_ipv6: "2001:db8:5::20",
    owner_silos: [silo.id],
    description: "Both",
  });
  const shown = await at.printed("external-subnet show all");
  expect(shown).toContain("ipv4_provision:  198.51.100.10-198.51.100.20\n");
  const lines = (await at.printed("external-subnet list")).split("\n");
  expect(lines[0]).toMatch(/^NAME +ID +NIC_TAG +VLAN_ID +IPV4_BLOCK +IPV6_BLOCK +OWNER_SILOS +DESCRIPTION$/);
  expect(lines.find((line) => line.startsWith("all "))).toMatch(/ uplink +12 +\S+24 +\S+64 +1 +Both$/);
  const used = await at.run(`nic-tag delete ${tag.id}`);
  expect([used.code, used.err()]).toEqual([5, expect.stringContaining("NicTagInUse")]);
  expect(await at.printed("external-subnet delete all")).toBe(`Deleted external subnet all (${subnet.id})\n`);
});

test("an external subnet's NIC tag may be given by id; with an unknown tag or owner, nothing is created", async () => {
  const argv = `external-subnet create by-id --ipv4-block 192.0.2.0/24 --nic-tag`;
  expect((await at.run(`${argv} nothing`)).code).toBe(3);
  expect((await at.run(`${argv} uplink --owner-silo nothing`)).code).toBe(3);
  expect(await at.json(`${argv} ${tag.id}`)).toMatchObject({ nic_tag: "uplink", owner_silos: [] });
  expect(await at.printed("external-subnet show by-id")).toContain("owner_silos:     (all)\n");
});

test("a pool lists its networks by name in the order of their use, and its deletion does not delete the networks", async () => {
  const ids: string[] = [];
  for (const name of ["second", "first"]) {
    const block = `10.${ids.length}.0.0/24`;
    ids.push(
      (await at.json<ExternalSubnet>(`external-subnet create ${name} --nic-tag uplink --ipv4-block ${block}`)).id,
    );
  }
  const made = await at.printed("network-pool create public --network first --network second --description P");
  const pool = await at.json<NetworkPool>("network-pool show public");
  expect(made).toBe(`Created network pool public (${pool.id})\n`);
  expect(pool).toMatchObject({ networks: ids.toReversed(), owner_silos: [], description: "P" });
  expect(await at.printed("network-pool show public")).toContain("networks:     first,second\n");
  const lines = (await at.printed("network-pool list")).split("\n");
  expect(lines[0]).toMatch(/^NAME +ID +NETWORKS +OWNER_SILOS +AGE +DESCRIPTION$/);
  expect(lines[1]).toMatch(/^public .* first,second +\(all\) .* P$/);
  expect((await at.run("external-subnet delete first")).code).toBe(5);
  expect(await at.printed("network-pool delete public")).toBe(`Deleted network pool public (${pool.id})\n`);
  expect((await at.run("external-subnet delete first")).code).toBe(0);
});
