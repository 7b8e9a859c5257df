// Tests the files of a guest's seed volume, and that a FAT reader finds them unchanged.
import { describe, expect, test } from "vitest";
import type { Nic } from "../../src/contract/instance.ts";
import type { Subnet } from "../../src/contract/network.ts";
import { fatVolume } from "../../nodeagent/qemu/fat-volume.ts";
import { networkConfig, seedFiles, seedVolume, userData, type VpcMtus } from "../../nodeagent/qemu/seed.ts";
import { readFatVolume } from "./fat-reader.ts";

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0 me@here";

/** No VPC has a known MTU. */
const MTUS: VpcMtus = new Map();
const nic = (change: Partial<Nic>) =>
  ({ id: "n", subnet_id: "s", mac: "02:00:00:00:00:01", primary_ipv4: null, primary_ipv6: null, ...change }) as Nic;
const subnet = (ipv4_block: string | null) => ({ id: "s", ipv4_block }) as Subnet;
const plan = {
  instance: { id: "3f2a9c1e-0000-4000-8000-000000000001", name: "web1" },
  nics: [nic({ primary_ipv4: "10.0.1.5" })],
  subnets: [subnet("10.0.1.0/24")],
  ssh_public_keys: [KEY],
  user_data: null,
};

describe("the files", () => {
  test("match the snapshot", () => {
    expect(seedFiles(plan, MTUS)).toMatchSnapshot();
  });

  test("the network configuration has both families, and default routes only on the first NIC", () => {
    const nics = [
      nic({ primary_ipv4: "10.0.1.5", primary_ipv6: "2001:db8::5" }),
      nic({ mac: "02:00:00:00:00:02", primary_ipv6: "2001:db8::6" }),
      nic({ mac: "02:00:00:00:00:03", primary_ipv4: "10.9.9.9", subnet_id: "unknown" }),
    ];
    expect(networkConfig({ nics, subnets: [subnet("10.0.1.0/24")] }, MTUS)).toMatchSnapshot();
    expect(networkConfig({ nics: [], subnets: [] }, MTUS)).toBe("version: 2\nethernets: {}\n");
  });

  test("each NIC has the MTU of its VPC", () => {
    const nics = [nic({ vpc_id: "v1" }), nic({ vpc_id: "v2" }), nic({ vpc_id: "unknown" })];
    const config = networkConfig({ nics, subnets: [] }, new Map([["v1", 1_500], ["v2", 1_330]]));
    expect([...config.matchAll(/mtu: (\d+)/g)].map(([, mtu]) => Number(mtu))).toEqual([1_500, 1_330, 1_450]);
  });

  test.each([["Web 1", "web-1"], ["_", "instance"], ["ä.b", "b"]])("the hostname of %j is %j", (name, hostname) => {
    const files = seedFiles({ ...plan, instance: { ...plan.instance, name } }, MTUS);
    expect(JSON.parse(files["meta-data"]!)["local-hostname"]).toBe(hostname);
  });
});

describe("user data", () => {
  const line = `ssh_authorized_keys: ${JSON.stringify([KEY])}\n`;

  test.each([
    ["absent", null, `#cloud-config\n${line}`],
    [
      "a block of cloud-config",
      "#cloud-config\npackages:\n- vim\n  # x",
      "#cloud-config\npackages:\n- vim\n  # x\n" + line,
    ],
    ["empty cloud-config", "#cloud-config\n", `#cloud-config\n${line}`],
  ])("gets the keys: %s", (_, given, text) => {
    expect(userData(given, [KEY])).toBe(text);
  });

  test.each([
    ["a script", "#!/bin/sh\necho hi\n"],
    ["cloud-config with its own keys", "#cloud-config\nssh_authorized_keys: [x]\n"],
    ["cloud-config in flow style", "#cloud-config\n{packages: [vim]}\n"],
    ["cloud-config that spans lines in flow style", "#cloud-config\nruncmd: [\nls ]\n"],
    ["several YAML documents", "#cloud-config\na: b\n---\nc: d\n"],
    ["an indented block", "#cloud-config\n  a: b\n"],
    ["a list", "#cloud-config\n- a\n"],
    ["a MIME archive", "Content-Type: multipart/mixed\n\n"],
  ])("stays unchanged: %s", (_, given) => {
    expect(userData(given, [KEY])).toBe(given);
  });

  test("without keys stays unchanged", () => {
    expect(userData("#cloud-config\na: b", [])).toBe("#cloud-config\na: b");
    expect(userData(null, [])).toBe("#cloud-config\n");
  });
});

describe("the volume", () => {
  test("has the label and the files, with their long names and contents", () => {
    const volume = readFatVolume(seedVolume(plan, MTUS));
    expect(volume.label).toBe("CIDATA");
    expect(volume.files).toEqual(seedFiles(plan, MTUS));
  });

  test("has the same bytes for the same files", () => {
    expect(Buffer.from(seedVolume(plan, MTUS)).equals(seedVolume(plan, MTUS))).toBe(true);
  });

  test("holds files over several clusters, and empty files", () => {
    const files = { "a-file-with-a-rather-long-name": "x".repeat(70_001), empty: "", "exact": "y".repeat(512) };
    expect(readFatVolume(fatVolume("L", files)).files).toEqual(files);
  });

  test("refuses files that do not fit", () => {
    expect(fatVolume("L", { a: "x".repeat(2_847 * 512) })).toHaveLength(1_474_560);
    expect(() => fatVolume("L", { a: "x".repeat(2_847 * 512 + 1) })).toThrow("do not fit");
  });
});
