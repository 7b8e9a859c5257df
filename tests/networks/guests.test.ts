// Tests DHCP in both families, router advertisements, DNS and metadata for guests. One process of the compiled agent
// serves all routers of a node.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { kernelNetwork } from "../../nodeagent/network/kernel.ts";
import { ROUTER_PREFIX } from "../../nodeagent/network/names.ts";
import type { NetworkDriver } from "../../nodeagent/network/network-driver.ts";
import type { Order } from "../../nodeagent/network/guests/serve.ts";
import { guestPlan } from "../../nodeagent/network/guests/guest-plan.ts";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { buildExecutables } from "../processes/executables.ts";
import { lacking, needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { documentOf, machine, type TestVpc } from "./documents.ts";
import {
  CROWD_CLIENT,
  DHCP6_CLIENT,
  DHCP_CLIENT,
  DHCP_REBINDING_CLIENT,
  DNS_CLIENT,
  DNS_PAIR_CLIENT,
  DNS_SERVER,
  DNSMASQ,
  SLOW_DNS_CLIENT,
} from "./guest-clients.ts";
import { BUILD_LIMIT_MS, type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "python3", "curl", "setpriv");

const A1_ID = "01a20545-d1d3-77c5-b014-7bac72ce0350";
const a1 = { ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }), instance_id: A1_ID };
const a2 = { ...machine("a2", "n1", { net: 1, host: 6, vpc: "a" }), instance_id: crypto.randomUUID() };
const B1_ID = "01a20544-aaaf-77b4-84d1-ead326eccf3a";
const b1 = { ...machine("b1", "n1", { net: 1, host: 5, vpc: "b" }), instance_id: B1_ID, hostname: "other" };
const A: TestVpc = { vni: 4_096, machines: [a1, a2], rules: [], edge: null, routes: [] };
const B: TestVpc = { vni: 4_097, machines: [b1], rules: [], edge: null, routes: [] };
const METADATA = "169.254.169.254";
const METADATA_IPV6 = "fd00:ec2::254";
const RESOLVER = "127.0.0.53";
const REAL_RESOLVER = "127.0.0.54";
/** Longer than the 512 bytes of an answer by UDP, so that the resolver's answer is truncated (RFC 1035). */
const LONG_TEXT = ["x", "y", "z"].map((letter) => letter.repeat(250));

describe.skipIf(missing !== null)("a guest", () => {
  let site: NetworkSite;
  let folder: TemporaryFolder;
  let driver: NetworkDriver;
  let services: ChildProcessWithoutNullStreams;
  const said: string[] = [];
  const order = (given: Order) => void services.stdin.write(`${JSON.stringify(given)}\n`);
  const documents = [A, B].map((vpc): NetworkDocument => ({
    ...documentOf(vpc, "n1"),
    resolvers: [RESOLVER],
    ntp_servers: ["192.0.2.123"],
  }));
  const serveAll = () => {
    for (const document of documents) {
      order({ kind: "set", plan: guestPlan(document, `${ROUTER_PREFIX}${document.vni}`) });
    }
  };

  const startServices = () => {
    services = site.serveGuests(folder.path);
    createInterface({ input: services.stdout }).on("line", (line) => said.push(line));
    services.stderr.on("data", (text) => said.push(String(text)));
    serveAll();
  };

  beforeAll(async () => {
    await buildExecutables(["nodeagent"]);
    site = await openNetworkSite();
    folder = await temporaryFolder("guests");
    for (const id of [A1_ID, B1_ID]) await mkdir(join(folder.path, "vm", id), { recursive: true });
    const files = { "meta-data": JSON.stringify({ "public-keys": ["ssh-ed25519 A"] }), "user-data": "secret of a1" };
    await writeFile(join(folder.path, "vm", A1_ID, "guest-files.json"), JSON.stringify(files), { mode: 0o600 });
    await writeFile(join(folder.path, "vm", B1_ID, "guest-files.json"), "{", { mode: 0o600 });
    driver = kernelNetwork({ host_namespace: null, prefix: ROUTER_PREFIX, underlay_address: "127.0.0.1" }, site.run);
    await site.run(["ip", "link", "set", "lo", "up"]);
    for (const document of documents) await driver.apply(document);
    await site.plug("berth", documents[0]!, a1);
    await site.plug("berth", documents[0]!, a2);
    await site.plug("berth", documents[1]!, b1);
    for (const document of documents) await driver.apply(document);
    await site.startServer(null, DNS_SERVER, [RESOLVER]);
    startServices();
    await vi.waitFor(async () => expect((await dns("a1", "a1.p1.internal", "A")).code).toBe(0), { timeout: 20_000 });
  }, BUILD_LIMIT_MS);
  afterAll(async () => {
    await site?.close();
    await folder?.remove();
  });

  const dns = async (from: string, name: string, kind: string, { server = METADATA, transport = "udp" } = {}) =>
    JSON.parse((await site.inMachine(from, "python3", "-c", DNS_CLIENT, server, name, kind, transport)).out);
  const dhcp = async (from: string, ...macs: readonly string[]) =>
    JSON.parse((await site.inMachine(from, "python3", "-c", DHCP_CLIENT, ...macs)).out);
  const curl = async (from: string, path: string, ...more: readonly string[]) => {
    const address = path.startsWith("[") ? path : `${METADATA}${path}`;
    const { out } = await site.inMachine(
      from,
      "curl",
      "-g",
      "-s",
      "-m",
      "3",
      ...more,
      "-w",
      " %{http_code}",
      `http://${address}`,
    );
    return out.replace(/\s+/g, " ").trim();
  };
  const tokenOf = async (from: string, host = "") => {
    const header = "X-aws-ec2-metadata-token-ttl-seconds: 60";
    return (await curl(from, `${host}/latest/api/token`, "-X", "PUT", "-H", header)).split(" ")[0]!;
  };
  const withToken = (token: string) => ["-H", `X-aws-ec2-metadata-token: ${token}`];

  test("gets its address, mask, routes, MTU, name, DNS server and time server by DHCP", async () => {
    const lease = await dhcp("a1", a1.mac);
    expect(lease).toMatchObject({ address: "10.0.1.5", types: [2, 5, 6] });
    expect(lease.options).toMatchObject({
      1: [255, 255, 255, 0],
      3: [10, 0, 1, 1],
      6: [169, 254, 169, 254],
      12: [...new TextEncoder().encode("a1")],
      15: [...new TextEncoder().encode("p1.internal")],
      26: [1_450 >> 8, 1_450 & 255],
      42: [192, 0, 2, 123],
      54: [169, 254, 169, 254],
      119: [2, ...new TextEncoder().encode("p1"), 8, ...new TextEncoder().encode("internal"), 0],
      121: [32, 169, 254, 169, 254, 10, 0, 1, 1, 0, 10, 0, 1, 1],
    });
  });

  test("gets its name from its own VPC, even if another VPC has the same addresses", async () => {
    expect((await dhcp("b1", b1.mac)).options[12]).toEqual([...new TextEncoder().encode("other")]);
  });

  test("gets no lease with another guest's MAC in the request", async () => {
    expect(await dhcp("a2", a2.mac, a1.mac)).toBeNull();
  });

  test("extends its lease by a broadcast from its own address, but not the lease of another guest", async () => {
    const rebind = async (client_mac: string, address: string) => {
      const words = [a1.mac, client_mac, address];
      return JSON.parse((await site.inMachine("a1", "python3", "-c", DHCP_REBINDING_CLIENT, ...words)).out);
    };
    expect(await rebind(a1.mac, a1.ipv4!)).toEqual({ address: a1.ipv4, type: 5 });
    expect(await rebind(a2.mac, a1.ipv4!), "with the MAC of another guest").toBeNull();
    expect(await rebind(a1.mac, a2.ipv4!), "from the address of another guest").toBeNull();
  });

  test("gets its IPv6 address and DNS server by DHCPv6, and no other address that it requests", async () => {
    const ask = async (mac: string) =>
      JSON.parse((await site.inMachine("a1", "python3", "-c", DHCP6_CLIENT, mac)).out || "null");
    const lease = {
      types: [2, 7, 7],
      router: "fe80::1",
      addresses: [["fd00:a:1::5", 86_400], ["fd00:a:9::9", 0]],
      dns: METADATA_IPV6,
      confirm: 4,
    };
    expect(await ask(a1.mac)).toEqual(lease);
    expect(await ask(a2.mac), "with the id of another guest").toEqual(lease);
  });

  test("takes its IPv6 route and MTU from router advertisements, but no address", async () => {
    const inside = (...words: readonly string[]) => site.run(["ip", "-n", "vm-a2", "-6", ...words]);
    await site.inMachine("a2", "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=1", "net.ipv6.conf.eth0.forwarding=0");
    await inside("route", "del", "default");
    // A guest sends a router solicitation when its device comes up.
    for (const state of ["down", "up"]) {
      await site.run(["ip", "-n", "vm-a2", "link", "set", "eth0", "mtu", "1500", state]);
    }
    await expect.poll(() => inside("route", "show", "default"), { timeout: 20_000 }).toContain(
      "via fe80::1 dev eth0 proto ra",
    );
    expect(await inside("route", "show", "default")).toContain("mtu 1450");
    expect(await inside("-o", "addr", "show", "scope", "global")).toBe("");
    await inside("addr", "add", `${a2.ipv6}/128`, "dev", "eth0", "nodad");
    const pinged = await site.inMachine("a2", "ping", "-c", "1", "-W", "2", a1.ipv6!);
    expect(pinged.code).toBe(0);
    await site.run(["ip", "-n", "vm-a2", "route", "replace", "default", "via", "10.0.1.1"]);
  });

  test.each([
    ["by UDP", { transport: "udp" }],
    ["by TCP", { transport: "tcp" }],
    ["by IPv6", { server: METADATA_IPV6 }],
  ])("finds the guests of its VPC by name, %s", async (_, how) => {
    expect(await dns("a1", "A2.p1.internal", "A", how)).toEqual({ code: 0, found: ["10.0.1.6"] });
    expect(await dns("a1", "a2.p1.internal", "AAAA", how)).toEqual({ code: 0, found: ["fd00:a:1::6"] });
  });

  test.each(["a2.p1.internal", "example.org"])("gets both answers to two queries in one segment: %s", async (name) => {
    const { out } = await site.inMachine("a1", "python3", "-c", DNS_PAIR_CLIENT, METADATA, name);
    expect(JSON.parse(out)).toEqual([[1, 0], [2, 0]]);
  });

  test("does not find the guests of another VPC, and its question does not leave the node", async () => {
    expect(await dns("a1", "other.p1.internal", "A")).toEqual({ code: 3, found: [] });
    expect(await dns("b1", "other.p1.internal", "A")).toEqual({ code: 0, found: ["10.0.1.5"] });
  });

  test.each(["udp", "tcp"])("gets other names from the resolver, by %s", async (transport) => {
    expect(await dns("a1", "example.org", "A", { transport })).toEqual({ code: 0, found: ["192.0.2.53"] });
  });

  test("finds the names of its VPC's addresses, and a question for an address without a name does not leave the node", async () => {
    const digits = ["fd00", "000a", "0001", "0000", "0000", "0000", "0000", "0006"].join("");
    const nibbles = [...digits].reverse().join(".");
    expect(await dns("a1", "6.1.0.10.in-addr.arpa", "PTR")).toEqual({ code: 0, found: ["a2.p1.internal"] });
    expect(await dns("a1", `${nibbles}.ip6.arpa`, "PTR")).toEqual({ code: 0, found: ["a2.p1.internal"] });
    expect(await dns("b1", "6.1.0.10.in-addr.arpa", "PTR"), "of another VPC").toEqual({ code: 3, found: [] });
  });

  test("gets names, reverse names, missing names and long answers from a real resolver", async (context) => {
    needs(context, "dnsmasq");
    await site.startServer(null, DNSMASQ, [
      REAL_RESOLVER,
      [
        "host-record=www.example.org,192.0.2.80,2001:db8::80",
        `txt-record=long.example.org,${LONG_TEXT.join(",")}`,
        "local=/example.org/",
      ].join("\n"),
    ]);
    const plan = guestPlan({ ...documents[0]!, resolvers: [REAL_RESOLVER] }, `${ROUTER_PREFIX}${A.vni}`);
    order({ kind: "set", plan });
    await expect.poll(() => dns("a1", "www.example.org", "A"), { timeout: 20_000 }).toEqual({
      code: 0,
      found: ["192.0.2.80"],
    });
    expect(await dns("a1", "www.example.org", "AAAA", { server: METADATA_IPV6 })).toEqual({
      code: 0,
      found: ["2001:db8::80"],
    });
    expect(await dns("a1", "80.2.0.192.in-addr.arpa", "PTR")).toEqual({ code: 0, found: ["www.example.org"] });
    expect(await dns("a1", "absent.example.org", "A")).toEqual({ code: 3, found: [] });
    expect(await dns("a1", "long.example.org", "TXT")).toMatchObject({ code: 0, truncated: true });
    expect(await dns("a1", "long.example.org", "TXT", { transport: "tcp" })).toEqual({
      code: 0,
      found: [LONG_TEXT.join("")],
    });
    serveAll();
    await expect.poll(async () => (await dns("a1", "example.org", "A")).found, { timeout: 20_000 }).toEqual([
      "192.0.2.53",
    ]);
  });

  const open = async (from: string, port: string, count: number) =>
    JSON.parse((await site.inMachine(from, "python3", "-c", CROWD_CLIENT, METADATA, port, `${count}`)).out);

  test.each([
    ["DNS", "53"],
    ["metadata", "80"],
  ])(
    "has at most 64 connections to %s, which end when they are idle, and other guests are still served",
    async (_, port) => {
      const crowd = open("a1", port, 100);
      await new Promise((later) => setTimeout(later, 2_000));
      expect(await dns("a2", "a1.p1.internal", "A", { transport: "tcp" })).toEqual({ code: 0, found: ["10.0.1.5"] });
      expect(await crowd).toEqual({ first: 64, later: 0 });
    },
  );

  test("has at most 512 connections to DNS even if the kernel does not count them", async () => {
    const accept = "insert rule inet berth input iifname @taps tcp dport 53 accept";
    await site.run(["ip", "netns", "exec", `${ROUTER_PREFIX}${A.vni}`, "nft", accept]);
    expect(await open("a1", "53", 600)).toEqual({ first: 512, later: 0 });
    await driver.apply(documents[0]!);
  });

  test("gets whole answers by TCP when it reads slowly, and is disconnected when too many answers wait", async () => {
    const ask = async (count: number) =>
      JSON.parse(
        (await site.inMachine("a1", "python3", "-c", SLOW_DNS_CLIENT, METADATA, "a2.p1.internal", `${count}`)).out,
      );
    expect(await ask(2_000)).toEqual({ answers: 2_000 });
    expect(await ask(60_000)).toEqual({ error: "ConnectionResetError" });
  });

  test("reads its metadata with a token, in both families", async () => {
    const token = withToken(await tokenOf("a1"));
    expect(await curl("a1", "/berth/v1/user-data", ...token)).toBe("secret of a1 200");
    expect(await curl("a1", "/latest/meta-data/local-ipv4", ...token)).toBe("10.0.1.5 200");
    expect(await curl("a1", "/latest/meta-data/public-keys/0/openssh-key", ...token)).toBe("ssh-ed25519 A 200");
    const host = `[${METADATA_IPV6}]`;
    expect(await curl("a1", `${host}/latest/user-data`, ...withToken(await tokenOf("a1", host)))).toBe(
      "secret of a1 200",
    );
    const old_client = ["--http1.0", "-H", "Host:"];
    expect(await curl("a1", "/latest/user-data", ...token, ...old_client)).toBe("secret of a1 200");
    expect(await curl("a2", "/latest/user-data", ...withToken(await tokenOf("a2"))), "made by an older agent").toBe(
      "not found 404",
    );
    expect(await curl("b1", "/latest/user-data", ...withToken(await tokenOf("b1"))), "a damaged file").toBe(
      "the metadata is damaged 500",
    );
    said.splice(0);
  });

  test("gets nothing without a token, with another guest's token, or through a proxy", async () => {
    const token = await tokenOf("a1");
    expect(await curl("a1", "/latest/user-data")).toMatch(/ 401$/);
    expect(await curl("a2", "/latest/user-data", ...withToken(token))).toMatch(/ 401$/);
    expect(await curl("a1", "/latest/user-data", ...withToken(`x${token}`))).toMatch(/ 401$/);
    const forwarded = ["-H", "X-Forwarded-For: 10.0.1.5"];
    expect(await curl("a1", "/latest/user-data", ...withToken(token), ...forwarded)).toMatch(/ 403$/);
    expect(await curl("a1", "/latest/api/token", "-X", "PUT", ...forwarded)).toMatch(/ 403$/);
  });

  test("gets no metadata token with a neighbour's address", async () => {
    await site.run(["ip", "-n", "vm-a2", "addr", "add", "10.0.1.5/32", "dev", "eth0"]);
    const answer = await curl("a2", "/latest/api/token", "--interface", "10.0.1.5", "-X", "PUT");
    expect(answer).toBe("000");
    await site.run(["ip", "-n", "vm-a2", "addr", "del", "10.0.1.5/32", "dev", "eth0"]);
  });

  test("is served again after its router was replaced, and a closed router leaves nothing behind", async () => {
    order({ kind: "close", namespace: `${ROUTER_PREFIX}${B.vni}` });
    await expect.poll(() => said).toEqual([`${ROUTER_PREFIX}${B.vni}`]);
    await driver.keepOnly(new Set([A.vni]));
    // The kernel removes the overlay's device after the last socket in its namespace closes. Only then can the VNI be
    // used again.
    await driver.apply(documents[1]!);
    await site.run(["ip", "netns", "del", "vm-b1"]);
    await site.plug("berth", documents[1]!, b1);
    await driver.apply(documents[1]!);
    serveAll();
    await expect.poll(async () => (await dns("b1", "other.p1.internal", "A")).code, { timeout: 20_000 }).toBe(0);
  });

  test("keeps its metadata token when the agent's process for guests is killed and started again", async () => {
    const token = withToken(await tokenOf("a1"));
    services.kill("SIGKILL");
    await new Promise((ended) => services.once("close", ended));
    expect((await dns("a1", "a2.p1.internal", "A")).error, "nothing answers").toBeDefined();
    startServices();
    await expect.poll(async () => (await dns("a1", "a2.p1.internal", "A")).code, { timeout: 20_000 }).toBe(0);
    expect(await curl("a1", "/latest/user-data", ...token)).toBe("secret of a1 200");
  });

  test("is served by a process that exits when the agent closes the process's input", async () => {
    services.stdin.end();
    await new Promise((ended) => services.once("close", ended));
    expect(services.exitCode).toBe(0);
  });
});
