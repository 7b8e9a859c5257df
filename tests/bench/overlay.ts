// Measures the overlay network of nodes. First it measures throughput and latency between two guests on two nodes. A
// bare veth pair and a plain bridge serve for comparison. Then it measures how long a node takes to apply documents.
// The nodes are network namespaces of one kernel. Options: --rounds=N, --seconds=N, --json. Needs root, iproute2,
// nftables and iperf3.
import process from "node:process";
import { parseArgs } from "node:util";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { documentOf, machine, NODES, rule, type TestVpc } from "../networks/documents.ts";
import { type NetworkSite, openNetworkSite } from "../networks/site.ts";
import { median } from "./report.ts";

const VNI = 4_096;
/**
 * The large document has NICS NICs of another node and RULES firewall rules. In the last measurement, a node gets the
 * documents of VPCS VPCs.
 */
const NICS = 2_000;
const RULES = 500;
const VPCS = 100;
/** The number of times that a node applies each kind of document. */
const SAMPLES = 20;
const PINGS = 50;
const IPERF_LIMIT_MS = 60_000;

const A: TestVpc = {
  vni: VNI,
  machines: [
    machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
    machine("a2", "n2", { net: 1, host: 6, vpc: "a" }),
  ],
  rules: [],
  edge: null,
  routes: [],
};

type Path = { readonly name: string; readonly from: string; readonly to: string; readonly address: string };
const PATHS: readonly Path[] = [
  { name: "bare veth pair", from: "veth-a", to: "veth-b", address: "10.99.0.2" },
  { name: "plain bridge", from: "bridge-a", to: "bridge-b", address: "10.98.0.2" },
  { name: "overlay, two nodes", from: "vm-a1", to: "vm-a2", address: A.machines[1]!.ipv4! },
];

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
  },
});

const site = await openNetworkSite({ as_root: true });
try {
  const drivers = { n1: site.driver("n1"), n2: site.driver("n2") };
  const applyA = async () => {
    for (const node of ["n1", "n2"] as const) await drivers[node].apply(documentOf(A, node));
  };
  await applyA();
  for (const each of A.machines) await site.plug(each.node, documentOf(A, each.node), each);
  await applyA();
  await addPlainPaths(site);
  const paths = await measurePaths(site, { rounds: Number(values.rounds), seconds: Number(values.seconds) });
  const applications = await measureApplications(site);
  const report = { paths, applications_ms: applications };
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else {
    for (const { name, gbit_per_s, ping_ms } of paths) {
      console.log(`${name.padEnd(20)} ${gbit_per_s.toFixed(2)} Gbit/s, ping ${ping_ms.toFixed(3)} ms`);
    }
    for (const [name, ms] of Object.entries(applications)) console.log(`${name.padEnd(50)} ${ms.toFixed(0)} ms`);
  }
} finally {
  await site.close();
}
process.exit(0);

/** Adds two namespaces that a veth pair connects, and two namespaces that a bridge connects. */
async function addPlainPaths({ run }: NetworkSite): Promise<void> {
  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  for (const name of ["veth-a", "veth-b", "bridge-a", "bridge-b", "bridge"]) await ip("netns", "add", name);
  await ip(
    ...["-n", "veth-a", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", "veth-b"],
  );
  await ip("-n", "bridge", "link", "add", "br0", "type", "bridge");
  await ip("-n", "bridge", "link", "set", "br0", "up");
  for (const name of ["bridge-a", "bridge-b"]) {
    await ip("-n", "bridge", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
    await ip("-n", "bridge", "link", "set", name, "master", "br0", "up");
  }
  const addresses = [["veth-a", "10.99.0.1"], ["veth-b", "10.99.0.2"], ["bridge-a", "10.98.0.1"], [
    "bridge-b",
    "10.98.0.2",
  ]];
  for (const [name = "", address = ""] of addresses) {
    await ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
    await ip("-n", name, "link", "set", "eth0", "up");
  }
}

/** Measures the paths in turn, so that other load on the machine affects all of them. Returns the medians. */
async function measurePaths(
  { attempt }: NetworkSite,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
) {
  const samples = PATHS.map((path) => ({ path, gbit_per_s: [] as number[], ping_ms: [] as number[] }));
  const inside = (namespace: string, ...argv: readonly string[]) =>
    attempt(["ip", "netns", "exec", namespace, ...argv], { limit_ms: IPERF_LIMIT_MS });
  for (const { to } of PATHS) await inside(to, "iperf3", "--server", "--daemon");
  for (let round = 0; round < rounds; round++) {
    for (const { path: { name, from, address }, gbit_per_s, ping_ms } of samples) {
      const sent = await inside(from, "iperf3", "--client", address, "--time", String(seconds), "--json");
      if (sent.code !== 0) throw new Error(`${name}: iperf3: ${sent.err}${sent.out}`);
      gbit_per_s.push(JSON.parse(sent.out).end.sum_received.bits_per_second / 1e9);
      const pinged = await inside(from, "ping", "-q", "-i", "0.02", "-c", String(PINGS), address);
      ping_ms.push(Number(/= [\d.]+\/([\d.]+)\//.exec(pinged.out)?.[1]));
    }
  }
  return samples.map(({ path, gbit_per_s, ping_ms }) => ({
    name: path.name,
    gbit_per_s: median(gbit_per_s)!,
    ping_ms: median(ping_ms)!,
  }));
}

async function measureApplications(site: NetworkSite): Promise<Record<string, number>> {
  const driver = site.driver("n1");
  const base = documentOf(A, "n1");
  const timed = async (document: NetworkDocument) => {
    const begun_ms = performance.now();
    await driver.apply(document);
    return performance.now() - begun_ms;
  };
  const several = async (make: (n: number) => NetworkDocument) => {
    const all: number[] = [];
    for (let n = 0; n < SAMPLES; n++) all.push(await timed(make(n)));
    return all;
  };
  const ruled = (n: number) => ({
    ...base,
    firewall_rules: [rule({ direction: "inbound", action: "allow", priority: n })],
  });
  const changes = await several(ruled);
  const last = ruled(SAMPLES - 1);
  await driver.apply(last);
  const unchanged = await several(() => last);
  const large = largeDocument(base);
  const first_large_ms = await timed(large);
  const [kept, ...others] = large.firewall_rules;
  const one_rule = await several((n) => ({ ...large, firewall_rules: [{ ...kept!, priority: n }, ...others] }));
  await driver.apply(base);
  const vpcs = Array.from(
    { length: VPCS },
    (_, n) => ({ ...base, local_nics: [], vni: VNI + 1 + n, vpc_id: `vpc-${n}` }),
  );
  const begun_ms = performance.now();
  for (const document of vpcs) await driver.apply(document);
  const all_vpcs_ms = performance.now() - begun_ms;
  return {
    "a rule changes, median": median(changes)!,
    "a rule changes, slowest of 20": Math.max(...changes),
    "nothing changes, median": median(unchanged)!,
    [`${NICS} NICs and ${RULES} rules arrive at once`]: first_large_ms,
    "one of these rules changes, median": median(one_rule)!,
    [`${VPCS} VPCs, one after another`]: all_vpcs_ms,
  };
}

/** Returns a document with many NICs on another node and with many rules. */
function largeDocument(base: NetworkDocument): NetworkDocument {
  return {
    ...base,
    remote_nics: Array.from({ length: NICS }, (_, n) => ({
      ipv4: `10.0.${16 + (n >> 8)}.${n & 255}`,
      ipv6: `fd00:a:2::${(n + 16).toString(16)}`,
      underlay_address: NODES.n2,
    })),
    firewall_rules: Array.from({ length: RULES }, (_, n) =>
      rule({
        ...{ direction: "inbound", action: "allow", priority: n, protocol: "tcp" },
        source_cidr: `10.${n & 255}.0.0/16`,
        destination_ports: { low: n, high: n },
      })),
  };
}
