// Tests a tenant's network on two nodes with compiled tenantctl and opsctl, a server as `task start` starts it, two
// compiled agents, and the packets of two guests. See docs/networking.md.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NAT_GATEWAY_SILENCE_S } from "../../src/contract/limits.ts";
import type { Ended } from "../processes/executables.ts";
import { BRIDGE, type ExternalNetwork, openExternalNetwork, ROUTER } from "./external-network.ts";
import { BOOT, MEMORY_BYTES, SOON, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

const NODES = [0, 1] as const;
type NodeIndex = (typeof NODES)[number];
const PONG = "1 packets received";

let site: Site;
let external: ExternalNetwork;
let vni: number;
/** Public addresses of web1. */
let floating: Record<"ipv4" | "ipv6", string>;
/** Public addresses of the NAT gateways. */
let nat: Record<"ipv4" | "ipv6", string>;
/** The address of web2, which has no floating IP. */
let second: string;

const PROGRAMS = ["nft", "conntrack", "curl", "arping", "python3", "ssh", "ssh-keygen", "ping"] as const;

withMachine(async () => {
  site = await openSite({ nodes: NODES.length, agent_argv: [`--nic-tags=admin,external:${BRIDGE}`] });
  external = await openExternalNetwork(site.nodes);
  await createNetwork();
  return async () => {
    await site.close();
    await external.close();
  };
}, ...PROGRAMS);

/** Returns what a program printed. If the program failed, throws an Error with the program's error output. */
async function printed(ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended;
  if (code !== 0) throw new Error(`the program ended with ${code}: ${err}`);
  return out;
}

const opsctl = (...argv: readonly string[]) => printed(site.opsctl(argv));
const tenantctl = (...argv: readonly string[]) => printed(site.tenantctl(argv));
const json = async (...argv: readonly string[]) => JSON.parse(await tenantctl(...argv, "-o", "json"));
const inFolder = (name: string) => join(site.folder, name);

/** Creates a running instance on a node. The other node is cordoned during the call. */
async function createOn(index: NodeIndex, ...argv: readonly string[]): Promise<void> {
  const other = site.uuids[1 - index]!;
  await opsctl("cn", "placement", "set", other, "--cordoned", "true", "--cordoned-reason", "test");
  await tenantctl("instance", "create", "--image-id", site.image_id, "--cpu", "1", ...argv);
  await opsctl("cn", "placement", "set", other, "--cordoned", "false");
}

async function createNetwork(): Promise<void> {
  for (const uuid of site.uuids) await opsctl("cn", "label", "set", uuid, "--role", "both");
  await opsctl("nic-tag", "create", "external", "--mtu", "1500");
  await opsctl(
    ...["external-subnet", "create", "internet", "--nic-tag", "external"],
    ...["--ipv4-block", "203.0.113.0/24", "--ipv6-block", "2001:db8::/48"],
  );
  await external.router.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", inFolder("key"));
  await tenantctl("ssh-key", "create", "--name", "laptop", "--public-key-file", inFolder("key.pub"));
  const vpc = ["--ipv4-block", "10.0.0.0/16", "--ipv6-block", "fd00:a::/48"];
  vni = (await json("vpc", "create", "--name", "main", ...vpc)).vni;
  const subnet = ["--ipv4-block", "10.0.1.0/24", "--ipv6-block", "fd00:a:0:1::/64"];
  await tenantctl("subnet", "create", "--vpc", "main", "--name", "front", ...subnet);
  for (const family of FAMILIES) {
    const name = `out-${family}`;
    await tenantctl("nat-gateway", "create", "--vpc", "main", "--name", name, "--family", family);
    await tenantctl(
      ...["route", "create", "--vpc", "main", "--route-table", "main", "--name", name, "--target-nat-gateway", name],
      ...["--destination", EVERYTHING[family]],
    );
  }
  const guest = ["--memory-bytes", String(MEMORY_BYTES), "--vpc", "main", "--primary-subnet-id", "front"];
  for (const [index, name, peer] of [[0, "web1", "web2"], [1, "web2", "web1"]] as const) {
    const user_data = inFolder(`${name}.sh`);
    await writeFile(user_data, userData(`${peer}.acme-project.internal`));
    await createOn(index, ...guest, "--name", name, "--ssh-key-id", "laptop", "--user-data-file", user_data);
  }
}

const FAMILIES = ["ipv4", "ipv6"] as const;
const EVERYTHING = { ipv4: "0.0.0.0/0", ipv6: "::/0" };

/**
 * A program that the guest runs at its first boot. It writes three results for the guest's web server: its latest ping
 * of the peer by name, the replies of the metadata service, and the source addresses that the external router sees.
 */
const userData = (peer: string) =>
  `#!/bin/sh
(while :; do
  # The guest's ping cannot resolve names.
  address=$(nslookup ${peer} | awk '/^Address/ && $NF !~ /:.*:/ {last = $NF} END {print last}')
  ping -c 1 -W 2 $address > /www/now 2>&1; mv /www/now /www/ping; sleep 1
done) &
(while :; do
  timeout 5 wget -q -O /www/now4 http://${ROUTER.ipv4}/ && mv /www/now4 /www/out-ipv4
  timeout 5 wget -q -O /www/now6 "http://[${ROUTER.ipv6}]/" && mv /www/now6 /www/out-ipv6
  sleep 1
done) &
(
  timeout 5 wget -O /www/x http://169.254.169.254/latest/user-data 2>&1 | grep -o 401 > /www/without-token
  printf 'PUT /latest/api/token HTTP/1.0\\r\\nX-aws-ec2-metadata-token-ttl-seconds: 60\\r\\n\\r\\n' |
    timeout 5 nc 169.254.169.254 80 | tail -n 1 > /run/token
  timeout 5 wget -q -O /www/metadata --header "X-aws-ec2-metadata-token: $(cat /run/token)" \\
    http://169.254.169.254/latest/meta-data/hostname
) &
`;

async function nicOf(name: string) {
  const { items: [nic] } = await json("nic", "list", "--instance", name);
  return nic;
}

/** Reads a page of a guest's web server from the router of the VPC on this node. Empty if the request fails. */
const page = (node: NodeIndex, address: string, path: string) =>
  site.nodes[node]!.run("ip", "netns", "exec", `berth-${vni}`, "curl", "-s", "-m", "5", `http://${address}/${path}`)
    .catch(() => "");

/** Reads a page of web1 from the external router. Empty if the request fails. */
const outside = (family: "ipv4" | "ipv6", path: string) => {
  const host = family === "ipv4" ? floating.ipv4 : `[${floating.ipv6}]`;
  return external.router.run("curl", "-s", "-m", "3", `http://${host}/${path}`).catch(() => "");
};

/** Counts the frames with this source address, ARP included, that arrive at the external router from now on. */
async function framesFrom(source: string): Promise<() => Promise<number>> {
  const chain = ["netdev", "count", "from"];
  const filter = `{ type filter hook ingress device "${BRIDGE}" priority 0; }`;
  await external.router.run("nft", "add", "table", "netdev", "count");
  await external.router.run("nft", "add", "chain", ...chain, filter);
  await external.router.run("nft", "add", "rule", ...chain, "ip", "saddr", source, "counter");
  await external.router.run("nft", "add", "rule", ...chain, "arp", "saddr", "ip", source, "counter");
  return async () => {
    const listed = await external.router.run("nft", "list", "chain", ...chain);
    return [...listed.matchAll(/counter packets (\d+)/g)].reduce((sum, [, packets]) => sum + Number(packets), 0);
  };
}

/**
 * Counts the packets of VPCs from this underlay address that arrive at the second node from now on. The node must have
 * the table `underlay`.
 */
async function tunnelled(source: string): Promise<() => Promise<number>> {
  const node = site.nodes[1]!;
  const chain = ["ip", "underlay", `from-${source.replaceAll(".", "-")}`];
  await node.run("nft", "add", "chain", ...chain, "{ type filter hook input priority -300; }");
  await node.run("nft", "add", "rule", ...chain, "ip", "saddr", source, "udp", "dport", "4789", "counter");
  return async () => Number(/counter packets (\d+)/.exec(await node.run("nft", "list", "chain", ...chain))![1]);
}

const ssh = (command: string) =>
  external.router.run(
    ...["ssh", "-i", inFolder("key"), "-o", "BatchMode=yes", "-o", "ConnectTimeout=3"],
    ...["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"],
    ...[`root@${floating.ipv4}`, command],
  );

test("two guests on two nodes ping each other by name, and read their metadata", async () => {
  const first = await nicOf("web1");
  second = (await nicOf("web2")).primary_ipv4;
  for (const [node, address] of [[0, first.primary_ipv4], [1, second]] as const) {
    await expect.poll(() => page(node, address, "ping"), BOOT).toContain(PONG);
    await expect.poll(() => page(node, address, "metadata"), BOOT).toMatch(/^web[12]$/);
    expect(await page(node, address, "without-token")).toBe("401\n");
  }
  for (const each of NODES) {
    const node = site.nodes[each]!;
    const names = await node.networks();
    expect(names).toContain(`berth-${vni}`);
    // The taps are in the routers, and QEMU's own namespace has only its loopback device.
    for (const name of names.filter((name) => name.startsWith("berth-vm-"))) {
      expect((await node.run("ip", "-n", name, "-o", "link")).trim().split("\n")).toHaveLength(1);
    }
  }
  // The metrics count the packets of the taps in the routers. A guest may be ready before its second sample.
  await expect.poll(async () => {
    const { samples } = await json("instance", "metrics", "web1");
    return samples.at(-1).network_received_bytes - samples[0].network_received_bytes;
  }, BOOT).toBeGreaterThan(0);
});

test("the tenant's SSH key works at the floating IP of web1, and guests reach the internet through the NAT gateways", async () => {
  const { id } = await nicOf("web1");
  const addresses = await Promise.all(FAMILIES.map(async (family) => {
    const { address } = await json("floating-ip", "create", "--name", `web-${family}`, "--family", family);
    return [family, address] as const;
  }));
  floating = Object.fromEntries(addresses) as typeof floating;
  for (const family of FAMILIES) await tenantctl("floating-ip", "attach", `web-${family}`, "--nic", id);
  // Without a rule, a guest gets packets only from its VPC.
  await expect(ssh("hostname")).rejects.toThrow("timed out");
  await tenantctl(
    ...["firewall-rule", "create", "--vpc", "main", "--name", "public", "--action", "allow", "--direction", "inbound"],
    ...["--priority", "50", "--protocol", "tcp"],
  );
  await expect.poll(() => ssh("hostname").catch((error) => error.message), SOON).toBe("web1\n");
  for (const family of FAMILIES) {
    expect(await outside(family, "")).toBe("web1\n");
    // Packets of a guest with a floating IP have the floating IP as their source. Packets of other guests have the
    // address of the NAT gateway.
    await expect.poll(() => outside(family, `out-${family}`), SOON).toBe(`${floating[family]}\n`);
  }
  const { items } = await json("nat-gateway", "list", "--vpc", "main");
  nat = Object.fromEntries(
    items.map(({ public_address }: { public_address: string }) => [
      public_address.includes(":") ? "ipv6" : "ipv4",
      public_address,
    ]),
  ) as typeof nat;
  for (const family of FAMILIES) {
    await expect.poll(() => page(1, second, `out-${family}`), SOON).toBe(`${nat[family]}\n`);
  }
});

test("packets between nodes use the underlay address that an operator sets, until the operator removes it", async () => {
  const reported = site.address.replace(/[.]1$/, ".11");
  const set = site.address.replace(/[.]1$/, ".211");
  await site.nodes[0]!.run("ip", "addr", "add", `${set}/24`, "dev", "eth0");
  const node = site.nodes[1]!;
  await node.run("nft", "add", "table", "ip", "underlay");
  const packets = { [reported]: await tunnelled(reported), [set]: await tunnelled(set) };
  for (const [value, used, other] of [[set, set, reported], ["reported", reported, set]] as const) {
    await opsctl("cn", "underlay", "set", site.uuids[0]!, "--address", value);
    const before = await packets[used]!();
    await expect.poll(packets[used]!, SOON).toBeGreaterThan(before);
    // The ping succeeds when the second node knows the address: the node drops packets from unknown underlay addresses.
    await expect.poll(() => ssh(`ping -c 1 ${second}`).catch(() => ""), SOON).toContain(PONG);
    const last = await packets[other]!();
    expect(await ssh(`ping -c 1 ${second}`)).toContain(PONG);
    expect(await packets[other]!(), "packets from the other address").toBe(last);
  }
  await node.run("nft", "delete", "table", "ip", "underlay");
});

test("with Prefer: wait, a deny rule is in effect when its create request returns, and is gone when its delete request returns", async () => {
  const vpc = await json("vpc", "show", "main");
  const body = { name: "no-web", action: "deny", direction: "inbound", priority: 100, protocol: "tcp" };
  const headers = { prefer: "wait=30" };
  const made = await site.call("POST", `/v1/firewall-rules?vpc=${vpc.id}`, { body, headers });
  expect([made.status, made.headers.get("preference-applied")]).toEqual([201, "wait=30"]);
  expect(await Promise.all(FAMILIES.map((family) => outside(family, "")))).toEqual(["", ""]);
  const { realized } = await json("vpc", "show", "main");
  expect(realized.applied_generation).toBe(realized.desired_generation);
  expect(realized.realizations.map(({ status }: { status: string }) => status)).toEqual(["applied", "applied"]);
  const gone = await site.call("DELETE", `/v1/firewall-rules/${made.body.id}`, { headers });
  expect([gone.status, gone.headers.get("preference-applied")]).toEqual([204, "wait=30"]);
  expect(await outside("ipv4", "")).toBe("web1\n");
  expect(await outside("ipv6", "")).toBe("web1\n");
});

test("opsctl network trace asks the nodes' kernels where a packet stops", async () => {
  const traced = (...words: readonly string[]) =>
    opsctl("network", "trace", ...words).catch((error) => error.message as string);
  expect(await traced("web1", second, "80")).toContain(", the packet arrives at web2; ");
  expect(await traced("web2", ROUTER.ipv4, "80")).toMatch(/On node .*, the packet leaves by the NAT gateway /);
  await tenantctl(
    ...["firewall-rule", "create", "--vpc", "main", "--name", "no-db", "--action", "deny", "--direction", "outbound"],
    ...["--priority", "90", "--protocol", "tcp", "--destination-ports", "5432"],
  );
  await expect.poll(() => traced("web1", second, "5432"), SOON).toContain("error: the packet stops");
  await tenantctl("firewall-rule", "delete", "no-db", "--vpc", "main");
});

test("the network works without agents and without the server, and NAT gateways stop after 60 s", async () => {
  for (const node of NODES) await site.killAgent(node);
  await site.killServer();
  expect(await ssh("hostname")).toBe("web1\n");
  expect(await ssh(`ping -c 1 ${second}`)).toContain(PONG);
  // web2 has no floating IP, and requests a page of the internet each second. The gateways work for at least 30 s more.
  const frames = await framesFrom(nat.ipv4);
  const before = await frames();
  await expect.poll(frames, { timeout: 25_000 }).toBeGreaterThan(before + 20);
  const held = async () => {
    const shown = site.nodes.map((node) => node.run("ip", "-n", `berth-${vni}`, "addr", "show", "dev", "xt"));
    // A node without a gateway and without a floating IP has no such device.
    const text = (await Promise.all(shown.map((each) => each.catch(() => "")))).join("\n");
    return Object.values(nat).filter((address) => text.includes(`${address}/`));
  };
  expect(await held()).toEqual(Object.values(nat));
  await expect.poll(held, { timeout: NAT_GATEWAY_SILENCE_S * 1_000, interval: 500 }).toEqual([]);
  const last = await frames();
  await new Promise((wake) => setTimeout(wake, 7_000));
  expect(await frames(), "frames with the gateway's address").toBe(last);
  expect(await ssh("hostname"), "a floating IP").toBe("web1\n");
  // An agent repairs its router without the server.
  await site.nodes[0]!.run("ip", "-n", `berth-${vni}`, "route", "del", second);
  const agent = site.startAgent(0);
  await agent.says(/driver: qemu/);
  await expect.poll(() => ssh(`ping -c 1 ${second}`).catch(() => ""), SOON).toContain(PONG);
  site.startAgent(1);
  await site.startServer();
  expect(await ssh("hostname")).toBe("web1\n");
  await expect.poll(frames, SOON).toBeGreaterThan(last + 20);
});

test("nothing of a deleted network is left on the nodes", async () => {
  for (const family of FAMILIES) {
    await tenantctl("floating-ip", "detach", `web-${family}`);
    await tenantctl("floating-ip", "delete", `web-${family}`);
  }
  for (const name of ["web1", "web2"]) {
    await tenantctl("instance", "stop", name);
    await tenantctl("instance", "delete", name);
  }
  for (const family of FAMILIES) {
    await tenantctl("route", "delete", `out-${family}`, "--vpc", "main", "--route-table", "main");
    await tenantctl("nat-gateway", "delete", `out-${family}`, "--vpc", "main");
  }
  await tenantctl("firewall-rule", "delete", "public", "--vpc", "main");
  await tenantctl("subnet", "delete", "front", "--vpc", "main");
  await tenantctl("vpc", "delete", "main");
  await expect.poll(() => site.left(), SOON).toEqual([]);
  for (const node of site.nodes) {
    const routes = JSON.parse(await node.run("ip", "-j", "route")) as { dev: string }[];
    expect(routes.map(({ dev }) => dev)).toEqual(["eth0"]);
    expect(await node.run("conntrack", "-L")).toBe("");
  }
  // When no row is left, every node has confirmed the removal, and the VNI may be used again.
  await expect.poll(async () => (await site.db.query("select from vpc_realization")).rowCount, SOON).toBe(0);
});
