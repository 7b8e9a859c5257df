// Tests how a node stores, applies, refuses and repairs network documents, and how it waits for missing documents. The
// driver of the tests does not change the kernel.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { documentProblem } from "../../../nodeagent/network/document-check.ts";
import { openDocumentStore } from "../../../nodeagent/network/document-store.ts";
import type { NetworkDriver } from "../../../nodeagent/network/network-driver.ts";
import {
  createNodeNetwork,
  type NodeNetwork,
  type NodeNetworkOptions,
} from "../../../nodeagent/network/node-network.ts";
import { simulatedNetwork } from "../../../nodeagent/network/simulated.ts";
import { documentOf, machine, type TestVpc } from "../../networks/documents.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";

const A: TestVpc = {
  vni: 4_096,
  machines: [machine("a1", "n1", { net: 1, host: 5, vpc: "a" })],
  rules: [],
  edge: null,
  routes: [],
};
const NIC = { id: "a1", mac: A.machines[0]!.mac, vpc_id: "vpc-4096" };
/** A release of an address of the NIC. */
const RELEASE = { nic_id: NIC.id, vpc_id: NIC.vpc_id };
/** Time limits of a wait that succeeds and of a wait that fails. No wait depends on the speed of the machine. */
const [NEVER_MS, SOON_MS] = [3_600_000, 20];
const SIGNAL = new AbortController().signal;

let folder: TemporaryFolder;
let log: string[];
beforeEach(async () => {
  folder = await temporaryFolder("network");
  log = [];
});
afterEach(() => folder.remove());

/** Returns a driver that claims to carry packets. Its `apply` throws `trouble.why` unless this is null. */
function driverWith(trouble: { why: string | null }): NetworkDriver & { readonly applied: string[] } {
  const applied: string[] = [];
  const inner = simulatedNetwork();
  return {
    ...inner,
    carries_packets: true,
    applied,
    apply: async (document, taps) => {
      if (trouble.why !== null) throw new Error(trouble.why);
      applied.push(`${document.vpc_id} ${document.generation} ${[...taps?.values() ?? []].join(" ")}`.trim());
      return await inner.apply(document, taps);
    },
  };
}

async function open(
  driver: NetworkDriver = driverWith({ why: null }),
  limit_ms = 1_000,
  options: Partial<NodeNetworkOptions> = {},
): Promise<NodeNetwork> {
  const write = (line: string) => void log.push(line);
  const limits = { wait_limit_ms: limit_ms, release_limit_ms: limit_ms };
  const store = await openDocumentStore(folder.path, write);
  return createNodeNetwork({ driver, store, log: write, ...limits, ...options });
}

test("a counter is reported until a report arrives, and again when the counter has changed", async () => {
  let packets = 3;
  const counts = () => Promise.resolve([{ rule_id: "r1", packets, bytes: 60 * packets }]);
  const network = await open({ ...driverWith({ why: null }), ruleCounts: counts });
  await network.take(documentOf(A, "n1", 7));
  const changed = [{ rule_id: "r1", packets: 3, bytes: 180 }];
  expect(await network.counts.changed()).toEqual(changed);
  expect(await network.counts.changed(), "the report did not arrive").toEqual(changed);
  network.counts.arrived(changed);
  expect(await network.counts.changed()).toEqual([]);
  packets = 0;
  expect(await network.counts.changed(), "the node has started again").toEqual([{
    rule_id: "r1",
    packets: 0,
    bytes: 0,
  }]);
});

test("a restarted agent serves guests before it changes a router", async () => {
  await (await open()).take(documentOf(A, "n1", 7));
  const done: string[] = [];
  const driver = driverWith({ why: null });
  const network = createNodeNetwork({
    driver: {
      ...driver,
      keepOnly: (vnis) => driver.keepOnly(vnis).finally(() => done.push("keepOnly")),
      apply: (document) => driver.apply(document).finally(() => done.push("apply")),
    },
    store: await openDocumentStore(folder.path, () => {}),
    services: { update: ({ vpc_id }) => void done.push(`serve ${vpc_id}`), close: () => Promise.resolve() },
    log: () => {},
  });
  await network.restore();
  expect(done.slice(0, 3)).toEqual(["serve vpc-4096", "keepOnly", "apply"]);
});

test("a document is stored and applied, and a restarted agent applies it again", async () => {
  const network = await open();
  expect(await network.take(documentOf(A, "n1", 7))).toEqual({
    resource: { kind: "vpc", id: "vpc-4096" },
    generation: 7,
    status: "applied",
    message: null,
  });
  await network.acceptNodes(["192.0.2.1"]);
  const driver = driverWith({ why: null });
  const next = await open(driver);
  expect(next.have()).toEqual({ "vpc-4096": 7 });
  await next.restore();
  expect(driver.applied).toEqual(["vpc-4096 7"]);
  expect(next.realizations()).toMatchObject([{ generation: 7, status: "applied" }]);
});

test("a document of an older generation is ignored, and the stored document is applied again when it arrives again", async () => {
  const driver = driverWith({ why: null });
  const network = await open(driver);
  await network.take(documentOf(A, "n1", 7));
  expect(await network.take(documentOf(A, "n1", 6))).toBeNull();
  expect(await network.take(documentOf(A, "n1", 7))).toMatchObject({ generation: 7, status: "applied" });
  expect(driver.applied).toEqual(["vpc-4096 7", "vpc-4096 7"]);
});

test("a document of an unknown format is refused, and the applied document stays", async () => {
  const network = await open();
  await network.take(documentOf(A, "n1", 7));
  expect(await network.take({ ...documentOf(A, "n1", 8), format: 2 })).toMatchObject({
    generation: 8,
    status: "failed",
    message: "this agent does not know format 2 of network documents; upgrade it",
  });
  expect(network.have()).toEqual({ "vpc-4096": 7 });
});

test("the same problem of a document is logged once, and again after a good document", async () => {
  const network = await open();
  const bad = { ...documentOf(A, "n1", 8), format: 2 };
  const line = "network: the document of VPC vpc-4096 is refused: " +
    "this agent does not know format 2 of network documents; upgrade it";
  await network.take(bad);
  await network.take(bad);
  expect(log).toEqual([line]);
  await network.take(documentOf(A, "n1", 9));
  await network.take(bad);
  expect(log).toEqual([line, line]);
});

test.each([
  ["vpc_id", { vpc_id: "../../etc" }],
  ["vni", { vni: 2 ** 24 }],
  ["blocks", { blocks: ["10.0.0.0/16; flush ruleset"] }],
  ["external", { external: { bridge: "br0 up; reboot", gateway_ipv4: null, gateway_ipv6: null } }],
  ["local_nics", { local_nics: [{ ...documentOf(A, "n1").local_nics[0]!, mac: "02:00" }] }],
  ["firewall_rules", { firewall_rules: [{ rule_id: 'x" drop' }] }],
])("a document with a malformed %s is refused with an error that names the field", (field, change) => {
  expect(documentProblem({ ...documentOf(A, "n1"), ...change })).toBe(
    `the field ${field} of the document is malformed`,
  );
});

test("an unknown field of a newer server is ignored", () => {
  expect(documentProblem({ ...documentOf(A, "n1"), later: { any: 1 } })).toBeNull();
});

test("a document that cannot be applied is reported with the reason, kept, and applied by a repair", async () => {
  const trouble: { why: string | null } = { why: "nft is not installed" };
  const network = await open(driverWith(trouble));
  expect(await network.take(documentOf(A, "n1", 7))).toMatchObject({
    status: "failed",
    message: "nft is not installed",
  });
  expect(await network.repair(), "the same failure is not reported twice").toEqual([]);
  trouble.why = null;
  expect(await network.repair()).toMatchObject([{ generation: 7, status: "applied" }]);
  expect(network.status()).toEqual({ vpcs: 1, failed: 0, repaired: 0 });
});

test("only the documents that could not be applied are retried at short intervals", async () => {
  const trouble: { why: string | null } = { why: "the VNI is taken" };
  const network = await open(driverWith(trouble));
  await network.take(documentOf(A, "n1", 7));
  expect(await network.retryFailed()).toEqual([]);
  trouble.why = null;
  expect(await network.retryFailed()).toMatchObject([{ generation: 7, status: "applied" }]);
  expect(await network.retryFailed()).toEqual([]);
});

test("differences that a repair finds are counted", async () => {
  const inner = driverWith({ why: null });
  let changes = 0;
  const network = await open({ ...inner, apply: () => Promise.resolve({ changes, ruleset_replaced: false }) });
  await network.take(documentOf(A, "n1", 7));
  for (changes of [3, 1]) expect(await network.repair()).toEqual([]);
  expect(network.status()).toEqual({ vpcs: 1, failed: 0, repaired: 4 });
  expect(log).toEqual([
    "network: VPC vpc-4096: repaired 3 differences",
    "network: VPC vpc-4096: repaired 1 difference",
  ]);
});

test("a VPC's packets are accepted only from the nodes in its document, and the driver is called only for changes", async () => {
  const senders: unknown[] = [];
  const acceptSenders: NetworkDriver["acceptSenders"] = (given) => Promise.resolve(void senders.push(given));
  const network = await open({ ...driverWith({ why: null }), acceptSenders });
  const nodes = ["192.0.2.2", "192.0.2.3"];
  const at = (generation: number, peers: string[] | undefined) => ({ ...documentOf(A, "n1", generation), peers });
  await network.take(at(7, ["192.0.2.2"]));
  expect(senders, "before the first list of nodes there is no filter").toEqual([]);
  await network.acceptNodes(nodes);
  await network.take(at(8, ["192.0.2.2"]));
  await network.take(at(9, ["192.0.2.3"]));
  // A server of an older version sends no peers.
  await network.take(at(10, undefined));
  const ofA = (peer: string) => ({ nodes, vpcs: [{ vni: A.vni, peers: [peer] }] });
  expect(senders).toEqual([ofA("192.0.2.2"), ofA("192.0.2.3"), { nodes, vpcs: [] }]);
});

test("the removal of a VPC deletes its file, and the removal of an unknown VPC is not an error", async () => {
  const network = await open();
  await network.take(documentOf(A, "n1", 7));
  await network.acceptNodes(["192.0.2.2"]);
  await network.remove("vpc-4096");
  await network.remove("vpc-4096");
  expect(network.have()).toEqual({});
  expect(await readdir(folder.path)).toEqual([]);
});

test("a tap moves into its router at once if the document is stored, or else when the document arrives", async () => {
  const driver = driverWith({ why: null });
  const network = await open(driver);
  await network.attach("berth-vm-1", [NIC]);
  expect(driver.applied).toEqual([]);
  await network.take(documentOf(A, "n1", 7));
  await network.detach([NIC]);
  await network.attach("berth-vm-2", [NIC]);
  expect(driver.applied).toEqual(["vpc-4096 7 berth-vm-1", "vpc-4096 7", "vpc-4096 7 berth-vm-2"]);
});

test("a NIC waits for its document, but not longer than the limit", async () => {
  const patient = await open(undefined, NEVER_MS);
  const waits = patient.untilApplied([NIC], SIGNAL);
  await patient.take(documentOf(A, "n1", 7));
  await waits;
  const network = await open(undefined, SOON_MS);
  await expect(network.untilApplied([{ id: "other", vpc_id: "vpc-4096" }], SIGNAL)).rejects.toThrow(
    "the network of NIC other is not ready on this node: its document has not arrived from the control plane",
  );
});

test("a release of a floating IP waits until the router no longer has the address, but not longer than the limit", async () => {
  const trouble: { why: string | null } = { why: null };
  const network = await open(driverWith(trouble), SOON_MS);
  const address = "203.0.113.7";
  const has = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: [address] })) };
  const patient = await open(undefined, NEVER_MS);
  await patient.take(documentOf(has, "n1", 6));
  const waits = patient.floatingIpReleased(RELEASE, address, SIGNAL);
  await patient.take(documentOf(A, "n1", 7));
  await waits;
  const released = () => network.floatingIpReleased(RELEASE, address, SIGNAL);
  await network.take(documentOf(has, "n1", 7));
  await expect(released()).rejects.toThrow(
    "this node has not released 203.0.113.7: the document without the address has not arrived",
  );
  trouble.why = "nft is not installed";
  await network.take(documentOf(A, "n1", 8));
  await expect(released()).rejects.toThrow("this node has not released 203.0.113.7: nft is not installed");
  trouble.why = null;
  await network.retryFailed();
  await released();
  await network.answered(Infinity, { vpcs: [], gone: [] });
  await network.take(documentOf(has, "n1", 9));
  trouble.why = "conntrack is not installed";
  await network.take(documentOf({ ...A, machines: [] }, "n1", 10));
  await expect(released(), "the stored document no longer has the NIC").rejects.toThrow("conntrack is not installed");
  await network.remove(NIC.vpc_id);
  await released();
});

describe("an address counts as released only when a document without it has been applied", () => {
  const address = "203.0.113.7";
  const has = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: [address] })) };
  const gone = { ...A, machines: [] };
  const NOT_RELEASED = `this node has not released ${address}`;

  test("not while a stored document with the address is being applied", async () => {
    const gate = Promise.withResolvers<void>();
    const driver = driverWith({ why: null });
    const apply: NetworkDriver["apply"] = async (document, taps, options) => {
      if (document.generation === 8) await gate.promise;
      return await driver.apply(document, taps, options);
    };
    const network = await open({ ...driver, apply }, SOON_MS);
    await network.take(documentOf(A, "n1", 7));
    const taken = network.take(documentOf(has, "n1", 8));
    await expect.poll(() => network.have()).toEqual({ [NIC.vpc_id]: 8 });
    await expect(network.floatingIpReleased(RELEASE, address, SIGNAL)).rejects.toThrow(NOT_RELEASED);
    gate.resolve();
    await taken;
    await network.take(documentOf(A, "n1", 9));
    await network.floatingIpReleased(RELEASE, address, SIGNAL);
  });

  test("not after a document with the address failed halfway, even if a newer document fails, too", async () => {
    const trouble: { why: string | null } = { why: null };
    const network = await open(driverWith(trouble), SOON_MS);
    const released = () => network.floatingIpReleased(RELEASE, address, SIGNAL);
    await network.take(documentOf(A, "n1", 7));
    trouble.why = "nft failed after the addresses were added";
    await network.take(documentOf(has, "n1", 8));
    await expect(released()).rejects.toThrow(`${NOT_RELEASED}: ${trouble.why}`);
    await network.take(documentOf(A, "n1", 9));
    await expect(released(), "document 9 failed").rejects.toThrow(`${NOT_RELEASED}: ${trouble.why}`);
    trouble.why = null;
    await network.retryFailed();
    await released();
  });

  test("not after a restart of the agent, until a document without the NIC is applied", async () => {
    await (await open()).take(documentOf(has, "n1", 7));
    const trouble: { why: string | null } = { why: "nft is not installed" };
    const network = await open(driverWith(trouble), SOON_MS);
    await network.take(documentOf(gone, "n1", 8));
    const released = () => network.floatingIpReleased(RELEASE, address, SIGNAL);
    await expect(released()).rejects.toThrow(`${NOT_RELEASED}: nft is not installed`);
    trouble.why = null;
    await network.retryFailed();
    await released();
  });
});

describe("after a release, the node does not get the address back from a document that was on its way", () => {
  const address = "203.0.113.7";
  const has = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: [address] })) };
  const bare = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: ["203.0.113.8"] })) };

  test("because documents of a poll from before the end of the release are ignored, unless they lack the address", async () => {
    let now_ms = 10;
    const driver = driverWith({ why: null });
    const network = await open(driver, 1_000, { monotonicMs: () => now_ms });
    const answered = (sent_ms: number) => network.answered(sent_ms, { vpcs: [], gone: [] });
    await network.take(documentOf(A, "n1", 7));
    await answered(10);
    now_ms = 20;
    await network.floatingIpReleased(RELEASE, address, SIGNAL);
    expect(await network.take(documentOf(has, "n1", 8)), "the address was attached and detached").toBeNull();
    await answered(15);
    expect(await network.take(documentOf(has, "n1", 8)), "the poll was sent before the release ended").toBeNull();
    expect(network.have()).toEqual({ [NIC.vpc_id]: 7 });
    expect(await network.take(documentOf(bare, "n1", 8))).toMatchObject({ generation: 8, status: "applied" });
    await answered(30);
    expect(await network.take(documentOf(has, "n1", 9)), "attached again").toMatchObject({ generation: 9 });
    expect(driver.applied).toEqual(["vpc-4096 7", "vpc-4096 8", "vpc-4096 9"]);
  });

  test("because the release waits for a document that is being stored", async () => {
    const store = await openDocumentStore(folder.path, () => {});
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const put: typeof store.put = async (document) => {
      begun.resolve();
      await gate.promise;
      await store.put(document);
    };
    const network = await open(undefined, SOON_MS, { store: { ...store, put } });
    const taken = network.take(documentOf(has, "n1", 8));
    await begun.promise;
    await expect(network.floatingIpReleased(RELEASE, address, SIGNAL)).rejects.toThrow("has not arrived");
    gate.resolve();
    await taken;
    await network.take(documentOf(A, "n1", 9));
    await network.floatingIpReleased(RELEASE, address, SIGNAL);
  });
});

test("a release waits for another tenant's network after a restart only if the job of an older server does not name the VPC", async () => {
  const B: TestVpc = { ...A, vni: 4_097, machines: [machine("b1", "n1", { net: 1, host: 6, vpc: "b" })] };
  const trouble: { why: string | null } = { why: null };
  const before = await open(driverWith(trouble));
  for (const vpc of [{ ...A, machines: [] }, B]) await before.take(documentOf(vpc, "n1", 7));
  const driver = driverWith(trouble);
  const failsForB: NetworkDriver["apply"] = (document, ...others) =>
    document.vni === B.vni ? Promise.reject(new Error("nft is not installed")) : driver.apply(document, ...others);
  const network = await open({ ...driver, apply: failsForB }, SOON_MS);
  const released = (vpc_id: string | null) =>
    network.floatingIpReleased({ nic_id: NIC.id, vpc_id }, "203.0.113.7", SIGNAL);
  await expect(released(NIC.vpc_id), "no document is applied").rejects.toThrow("has not arrived");
  await network.restore();
  await released(NIC.vpc_id);
  await released("a VPC that this node does not have");
  await expect(released(null)).rejects.toThrow("this node has not released 203.0.113.7: nft is not installed");
});

test("a NIC does not wait if the server sends no network documents, or on a simulated machine", async () => {
  const network = await open();
  network.serverSendsDocuments(false);
  await network.untilApplied([NIC], SIGNAL);
  await (await open(simulatedNetwork())).untilApplied([NIC], SIGNAL);
});

test("a damaged file is skipped and logged", async () => {
  await writeFile(join(folder.path, "vpc-x.json"), "{", { mode: 0o600 });
  expect((await open()).have()).toEqual({});
  expect(log.at(-1)).toBe("network: vpc-x.json is skipped: it is damaged");
});
