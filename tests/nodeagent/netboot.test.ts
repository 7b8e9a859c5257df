// Tests the agent's parts of a Linux node image: the files of the booter, the inventory, the layout of the disks and
// the script of the setup. tests/booter/linux-image.test.ts tests the announcement of a machine.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { approvedLayout } from "../../src/lib/disk-layout/proposal.ts";
import { disksOf } from "../../src/lib/disk-layout/disks.ts";
import { networkFiles, nicTagsOption, parseProperties, shadowWithRoot } from "../../nodeagent/netboot/boot-files.ts";
import { brokerOf, runScript } from "../../nodeagent/netboot/announce.ts";
import { configure } from "../../nodeagent/netboot/configure.ts";
import { layoutText } from "../../nodeagent/netboot/disk-layout.ts";
import { machineDisks, sysinfo } from "../../nodeagent/netboot/sysinfo.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { machineRoots, UUID } from "./machine-roots.ts";

const MAC = "52:54:00:aa:00:01";
const VNIC = { mac: MAC, ip: "10.0.0.7", netmask: "255.255.254.0", gateway: "10.0.0.1" };
const NETWORKING = { hostname: "node-7", resolvers: ["10.0.0.2"], vnics: [VNIC], aggregations: [] };

test("the values of properties keep their = signs and lose the quotes that SmartOS needs", () => {
  expect([...parseProperties('a=1\nroot_shadow=$6$x$y=z\naggr="m1,m2"\n\nbad\n')]).toEqual([
    ["a", "1"],
    ["root_shadow", "$6$x$y=z"],
    ["aggr", "m1,m2"],
  ]);
});

describe("the network's files", () => {
  test("assign the admin address to the port with the MAC address", () => {
    expect(networkFiles(NETWORKING).get("10-admin.network")).toBe(
      `[Match]\nPermanentMACAddress=${MAC}\n\n[Network]\nAddress=10.0.0.7/23\nGateway=10.0.0.1\nLinkLocalAddressing=ipv6\n`,
    );
  });

  test("join the ports of an aggregation in a bond, which has the address", () => {
    const aggregations = [{ name: "aggr0", lacp_mode: "active", macs: [MAC, "52:54:00:aa:00:02"] }];
    const files = networkFiles({ ...NETWORKING, aggregations });
    expect([...files.keys()]).toEqual(["10-bond.netdev", "10-members.network", "20-admin.network", "resolv.conf"]);
    expect(files.get("10-bond.netdev")).toContain("Mode=802.3ad");
    expect(files.get("10-members.network")).toContain(`PermanentMACAddress=${MAC} 52:54:00:aa:00:02`);
    expect(files.get("20-admin.network")).toMatch(/^\[Match\]\nName=aggr0\n\n\[Network\]\nAddress=10\.0\.0\.7\/23/);
  });

  test("put a port that carries networks besides the admin network into a bridge, and give the bridge the address", () => {
    const nictags = [{ name: "admin" }, { name: "external" }];
    const networking = { ...NETWORKING, nictags };
    const files = networkFiles(networking);
    expect(files.get("10-admin.network")).toBe(
      `[Match]\nPermanentMACAddress=${MAC}\n\n[Network]\nBridge=trunk\n`,
    );
    expect(files.get("10-trunk.netdev")).toBe(`[NetDev]\nName=trunk\nKind=bridge\nMACAddress=${MAC}\n`);
    expect(files.get("20-trunk.network")).toMatch(/^\[Match\]\nName=trunk\n\n\[Network\]\nAddress=10\.0\.0\.7\/23/);
    expect(nicTagsOption(networking)).toBe("admin,external:trunk");
    expect(nicTagsOption({ ...NETWORKING, nictags: [{ name: "admin" }] })).toBe(null);
    const aggregations = [{ name: "aggr0", lacp_mode: "active", macs: [MAC] }];
    expect(networkFiles({ ...networking, aggregations }).get("20-admin.network")).toBe(
      "[Match]\nName=aggr0\n\n[Network]\nBridge=trunk\n",
    );
  });
});

test("the address of a tagged admin network is on a VLAN of the port, the bond or the bridge", () => {
  const vnics = [{ ...VNIC, vlan_id: 120 }];
  const own = "[Network]\nVLAN=admin-vlan\nLinkLocalAddressing=no\n";
  const plain = networkFiles({ ...NETWORKING, vnics });
  expect(plain.get("10-admin.network")).toBe(`[Match]\nPermanentMACAddress=${MAC}\n\n${own}`);
  expect(plain.get("30-vlan.netdev")).toBe("[NetDev]\nName=admin-vlan\nKind=vlan\n\n[VLAN]\nId=120\n");
  expect(plain.get("30-vlan.network")).toMatch(/^\[Match\]\nName=admin-vlan\n\n\[Network\]\nAddress=10\.0\.0\.7\/23/);
  const aggregations = [{ name: "aggr0", lacp_mode: "active", macs: [MAC] }];
  expect(networkFiles({ ...NETWORKING, vnics, aggregations }).get("20-admin.network")).toBe(
    `[Match]\nName=aggr0\n\n${own}`,
  );
  const nictags = [{ name: "admin" }, { name: "external" }];
  const trunk = networkFiles({ ...NETWORKING, vnics, nictags });
  expect(trunk.get("20-trunk.network")).toBe(`[Match]\nName=trunk\n\n${own}`);
  expect(trunk.get("10-admin.network")).toContain("Bridge=trunk");
  expect(networkFiles({ ...NETWORKING, vnics: [{ ...VNIC, vlan_id: 0 }] })).toEqual(networkFiles(NETWORKING));
});

test("root gets the password hash of the boot record, or no password", () => {
  const shadow = "root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n";
  expect(shadowWithRoot(shadow, "$6$a$b")).toBe(shadow.replace("root:*", "root:$6$a$b"));
  expect(shadowWithRoot(shadow.replace("root:*", "root:old"), null)).toBe(shadow);
});

test("configure writes the name, the network, the password and how the machine boots", async () => {
  const folder = await temporaryFolder("configure");
  const at = (path: string) => join(folder.path, path);
  try {
    for (const each of ["etc", "boot", "proc/sys/kernel"]) await mkdir(at(each), { recursive: true });
    await writeFile(at("etc/shadow"), "root:*:1::::::\n");
    await writeFile(at("boot/networking.json"), JSON.stringify(NETWORKING));
    await writeFile(at("boot/boot.properties"), "boot=local\nroot_shadow=$6$a$b\n");
    await configure({ boot_folder: at("boot"), root: folder.path });
    const read = (path: string) => readFile(at(path), "utf8");
    expect(await read("etc/shadow")).toBe("root:$6$a$b:1::::::\n");
    expect([await read("etc/hostname"), await read("proc/sys/kernel/hostname")]).toEqual(["node-7\n", "node-7"]);
    expect([await read("etc/resolv.conf"), await read("run/berth/local")]).toEqual(["nameserver 10.0.0.2\n", ""]);
    expect(await read("run/systemd/network/10-admin.network")).toContain("Address=10.0.0.7/23");
    const nictags = [{ name: "admin" }, { name: "external" }];
    await writeFile(at("boot/networking.json"), JSON.stringify({ ...NETWORKING, nictags }));
    await configure({ boot_folder: at("boot"), root: folder.path });
    expect(await read("run/berth/nic-tags")).toBe("admin,external:trunk");
    await writeFile(at("boot/boot.properties"), "boot=other\n");
    await expect(configure({ boot_folder: at("boot"), root: folder.path })).rejects.toThrow(/boot must be one of/);
  } finally {
    await folder.remove();
  }
});

const DISKS = { sda: 2e9, sdb: 2e9, md0: 2e9, "dm-0": 1e6, usb0: 1e8, sr0: 1e6, sdc: 0 };

test("the inventory has the machine's disks and network cards, and no arrays, bridges or removable disks", async () => {
  const folder = await temporaryFolder("sysinfo");
  try {
    const roots = await machineRoots(folder.path, DISKS, MAC);
    expect(await sysinfo(roots, { hostname: "node-7", platform_stamp: "S" })).toMatchObject({
      UUID,
      "Serial Number": "D34623J",
      "MiB of Memory": 2_048,
      "CPU Core Count": 2,
      "CPU Count": 4,
      "Disks": { sda: { "Size in GB": 1_024 }, sdb: { "Size in GB": 1_024 } },
      "Network Interfaces": { eth0: { "MAC Address": MAC, "Link Status": "up" } },
    });
    expect(Object.keys((await sysinfo(roots, { hostname: "", platform_stamp: "" }))["Network Interfaces"])).toEqual([
      "eth0",
    ]);
    expect((await machineDisks(roots)).map(({ name }) => name)).toEqual(["sda", "sdb"]);
  } finally {
    await folder.remove();
  }
});

test("the node uses exactly the disks of the layout that the operator approved", () => {
  const sizes = { sda: 480.1e9, sdb: 4_000.7e9, sdc: 4_000.2e9, sdd: 4_000.9e9, sde: 4_000.4e9 };
  const disks = Object.entries(sizes).map(([name, size_bytes]) => (
    { name, size_bytes, solid_state: name === "sda", removable: false }
  ));
  const inventory = disksOf({
    Disks: Object.fromEntries(
      disks.map(({ name, size_bytes }) => [name, { "Size in GB": Math.floor(size_bytes / 1e9) }]),
    ),
  });
  const approval = { disk_layout: "mirror", disk_width: null, disk_spares: null, disk_cache: true, disk_exclude: [] };
  // The layout depends only on these fields of an approval.
  const approved = approvedLayout(inventory, approval as unknown as Parameters<typeof approvedLayout>[1]);
  const options = { layout: "mirror", width: null, spares: null, cache: true, exclude: [] };
  const printed = JSON.parse(layoutText(disks, options));
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
  expect("proposal" in approved && approved.proposal).toMatchObject({
    vdevs: printed.vdevs.map((each: { type: string; devices: { name: string }[] }) => (
      { type: each.type, disks: names(each.devices) }
    )),
    cache_disks: names(printed.cache),
  });
  expect(() => layoutText(disks, { ...options, layout: "raidz3" })).toThrow(/no acceptable raidz3 layout/);
  expect(() => layoutText(disks, { ...options, width: 1 })).toThrow("invalid width: 1");
});

test("the broker's address contains the user, the password, the host and the port", () => {
  expect(brokerOf("525400aa0001:secret:10.0.0.1:5672")).toEqual({
    login: { user: "525400aa0001", password: "secret" },
    host: "10.0.0.1",
    port: 5_672,
  });
  expect(() => brokerOf("")).toThrow(/rabbitmq must be/);
});

test("a script gets only the environment of its request, and the result has its exit status and output", async () => {
  const script = 'echo "$TOKEN"; echo "${HOME:-no home}" >&2; exit 113';
  const ended = await runScript({ script, env: { PATH: "/usr/bin:/bin", TOKEN: "t" } });
  expect(ended).toEqual({ exit_status: 113, stdout: "t\n", stderr: "no home\n" });
});
