// Tests how a node stores, applies, refuses and repairs network documents, and how it waits for missing documents.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentProblem } from "../../../nodeagent/network/document-check.ts";
import { openDocumentStore } from "../../../nodeagent/network/document-store.ts";
import type { NetworkDriver } from "../../../nodeagent/network/network-driver.ts";
import { createNodeNetwork } from "../../../nodeagent/network/node-network.ts";
import { simulatedNetwork } from "../../../nodeagent/network/simulated.ts";
import { documentOf } from "../../networks/documents.ts";
import { A, driverWith, NEVER_MS, NIC, SIGNAL, SOON_MS, useNodeNetwork } from "./node-network-fixture.ts";

const f = useNodeNetwork();
const { open } = f;

test("a counter is reported until the server has the report, and again when the counter has changed", async () => {
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

test("a restarted agent starts the services for guests, such as DHCP, before it changes a router", async () => {
  await (await open()).take(documentOf(A, "n1", 7));
  const done: string[] = [];
  const driver = driverWith({ why: null });
  const network = createNodeNetwork({
    driver: {
      ...driver,
      keepOnly: (vnis) => driver.keepOnly(vnis).finally(() => done.push("keepOnly")),
      apply: (document) => driver.apply(document).finally(() => done.push("apply")),
    },
    store: await openDocumentStore(f.folder(), () => {}),
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
  expect(f.log()).toEqual([line]);
  await network.take(documentOf(A, "n1", 9));
  await network.take(bad);
  expect(f.log()).toEqual([line, line]);
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

test("the log shows the number of differences that a repair found", async () => {
  const inner = driverWith({ why: null });
  let changes = 0;
  const network = await open({ ...inner, apply: () => Promise.resolve({ changes, ruleset_replaced: false }) });
  await network.take(documentOf(A, "n1", 7));
  for (changes of [3, 1]) expect(await network.repair()).toEqual([]);
  expect(network.status()).toEqual({ vpcs: 1, failed: 0, repaired: 4 });
  expect(f.log()).toEqual([
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
  expect(await readdir(f.folder())).toEqual([]);
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

test("a NIC does not wait if the server sends no network documents, or on a simulated machine", async () => {
  const network = await open();
  network.serverSendsDocuments(false);
  await network.untilApplied([NIC], SIGNAL);
  await (await open(simulatedNetwork())).untilApplied([NIC], SIGNAL);
});

test("a damaged file is skipped and logged", async () => {
  await writeFile(join(f.folder(), "vpc-x.json"), "{", { mode: 0o600 });
  expect((await open()).have()).toEqual({});
  expect(f.log().at(-1)).toBe("network: vpc-x.json is skipped: it is damaged");
});
