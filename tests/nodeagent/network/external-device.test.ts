// Tests which commands create the device of an external network, given the state of the kernel.
import { expect, test } from "vitest";
import { type ExternalPlace, setExternal } from "../../../nodeagent/network/external-device.ts";

const WANTED = { bridge: "br-ext", vlan_id: null, gateway_ipv4: "203.0.113.1", gateway_ipv6: null, mtu: 1_400 };
const NOTHING = "[]";
const PAIR = { ifname: "xt", mtu: 1_400, flags: ["UP"], linkinfo: { info_kind: "veth" } };
const UNTAGGED = JSON.stringify([PAIR]);
const INTERRUPTED = JSON.stringify([{ ...PAIR, flags: [] }]);
const TAGGED = JSON.stringify([{ ...PAIR, linkinfo: { info_kind: "vlan", info_data: { id: 7 } } }]);

/**
 * Returns the commands that change the device from `links` to `wanted`. Commands that run in the router begin with the
 * router's name.
 */
async function commands(
  links: string,
  wanted: { readonly vlan_id?: number | null; readonly mtu?: number } | null,
  { vlan_filtering = 0, is_first = false } = {},
) {
  const said: string[] = [];
  const place: ExternalPlace = {
    vni: 9,
    is_first,
    namespace: "berth-9",
    onHost: (...words) => {
      said.push(words.join(" "));
      return Promise.resolve(JSON.stringify([{ linkinfo: { info_data: { vlan_filtering } } }]));
    },
    inside: (...words) => {
      said.push(`berth-9: ${words.join(" ")}`);
      return Promise.resolve("");
    },
  };
  await setExternal(place, links, wanted === null ? null : { ...WANTED, ...wanted });
  return said;
}

const SYSCTLS = "berth-9: sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=1 net.ipv4.conf.xt.arp_ignore=1 " +
  "net.ipv4.conf.xt.arp_announce=2 net.ipv6.conf.xt.ndisc_notify=1";
const CABLE_UP = "ip link set x9 master br-ext mtu 1500 up";
const UP = [CABLE_UP, SYSCTLS, "berth-9: ip link set xt mtu 1400 up"];
const VLAN = [
  "ip link del x9",
  "ip link add x9 type veth peer name xv netns berth-9",
  "berth-9: ip link add link xv name xt type vlan id 7",
  CABLE_UP,
  "ip -j -d link show dev br-ext",
  "berth-9: ip link set xv mtu 1500 up",
  SYSCTLS,
  "berth-9: ip link set xt mtu 1400 up",
];

test("an untagged network needs only a cable (a veth pair) to the bridge", async () => {
  expect(await commands(NOTHING, WANTED)).toEqual([
    "ip link del x9",
    "ip link add x9 type veth peer name xt netns berth-9",
    ...UP,
  ]);
  expect(await commands(UNTAGGED, WANTED)).toEqual([CABLE_UP]);
  expect(await commands(UNTAGGED, WANTED, { is_first: true }), "the first check after a start of the agent").toEqual(
    UP,
  );
  expect(await commands(INTERRUPTED, WANTED), "the agent was killed before the last step").toEqual(UP);
});

test("a VLAN needs a device on the cable, and a bridge that filters VLANs must accept the VLAN on the cable's port", async () => {
  expect(await commands(NOTHING, { vlan_id: 7 })).toEqual(VLAN);
  expect(await commands(TAGGED, { vlan_id: 7 }, { vlan_filtering: 1 })).toEqual([
    CABLE_UP,
    "ip -j -d link show dev br-ext",
    "bridge vlan add dev x9 vid 7",
    "berth-9: ip link set xv mtu 1500 up",
  ]);
});

test("a change of the VLAN replaces the device, and a document without an external network removes the device", async () => {
  expect(await commands(UNTAGGED, { vlan_id: 7 })).toEqual(["ip link del x9", ...VLAN]);
  expect(await commands(TAGGED, WANTED)).toContain("ip link add x9 type veth peer name xt netns berth-9");
  expect(await commands(TAGGED, null)).toEqual(["ip link del x9"]);
  expect(await commands(NOTHING, null)).toEqual([]);
});

test("another MTU changes the device, and a large MTU also changes the cable", async () => {
  expect((await commands(UNTAGGED, { mtu: 1_280 })).at(-1)).toBe("berth-9: ip link set xt mtu 1280 up");
  const large = await commands(TAGGED, { vlan_id: 7, mtu: 9_000 });
  expect(large).toContain("ip link set x9 master br-ext mtu 9000 up");
  expect(large).toContain("berth-9: ip link set xv mtu 9000 up");
  expect(large.at(-1)).toBe("berth-9: ip link set xt mtu 9000 up");
});
