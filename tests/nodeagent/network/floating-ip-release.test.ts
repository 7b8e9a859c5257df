// Tests when a floating IP of a NIC counts as released by the node (docs/networking.md, "Floating IPs").
import { describe, expect, test } from "vitest";
import { openDocumentStore } from "../../../nodeagent/network/document-store.ts";
import type { NetworkDriver } from "../../../nodeagent/network/network-driver.ts";
import { documentOf, machine, type TestVpc } from "../../networks/documents.ts";
import { A, driverWith, NEVER_MS, NIC, SIGNAL, SOON_MS, useNodeNetwork } from "./node-network-fixture.ts";

const f = useNodeNetwork();
const { open } = f;

/** The NIC whose address a job releases, and the NIC's VPC. */
const RELEASE = { nic_id: NIC.id, vpc_id: NIC.vpc_id };
const ADDRESS = "203.0.113.7";
/** The VPC whose NIC has the address. */
const HAS: TestVpc = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: [ADDRESS] })) };

test("a release of a floating IP waits until the router no longer has the address, but not longer than the limit", async () => {
  const trouble: { why: string | null } = { why: null };
  const network = await open(driverWith(trouble), SOON_MS);
  const patient = await open(undefined, NEVER_MS);
  await patient.take(documentOf(HAS, "n1", 6));
  const waits = patient.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
  await patient.take(documentOf(A, "n1", 7));
  await waits;
  const released = () => network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
  await network.take(documentOf(HAS, "n1", 7));
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
  await network.take(documentOf(HAS, "n1", 9));
  trouble.why = "conntrack is not installed";
  await network.take(documentOf({ ...A, machines: [] }, "n1", 10));
  await expect(released(), "the stored document no longer has the NIC").rejects.toThrow("conntrack is not installed");
  await network.remove(NIC.vpc_id);
  await released();
});

describe("an address counts as released only when a document without it has been applied", () => {
  const gone = { ...A, machines: [] };
  const NOT_RELEASED = `this node has not released ${ADDRESS}`;

  test("not while a stored document with the address is being applied", async () => {
    const gate = Promise.withResolvers<void>();
    const driver = driverWith({ why: null });
    const apply: NetworkDriver["apply"] = async (document, taps, options) => {
      if (document.generation === 8) await gate.promise;
      return await driver.apply(document, taps, options);
    };
    const network = await open({ ...driver, apply }, SOON_MS);
    await network.take(documentOf(A, "n1", 7));
    const taken = network.take(documentOf(HAS, "n1", 8));
    await expect.poll(() => network.have()).toEqual({ [NIC.vpc_id]: 8 });
    await expect(network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL)).rejects.toThrow(NOT_RELEASED);
    gate.resolve();
    await taken;
    await network.take(documentOf(A, "n1", 9));
    await network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
  });

  test("not after a document with the address failed halfway, even if a newer document fails, too", async () => {
    const trouble: { why: string | null } = { why: null };
    const network = await open(driverWith(trouble), SOON_MS);
    const released = () => network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
    await network.take(documentOf(A, "n1", 7));
    trouble.why = "nft failed after the addresses were added";
    await network.take(documentOf(HAS, "n1", 8));
    await expect(released()).rejects.toThrow(`${NOT_RELEASED}: ${trouble.why}`);
    await network.take(documentOf(A, "n1", 9));
    await expect(released(), "document 9 failed").rejects.toThrow(`${NOT_RELEASED}: ${trouble.why}`);
    trouble.why = null;
    await network.retryFailed();
    await released();
  });

  test("not after a restart of the agent, until a document without the NIC is applied", async () => {
    await (await open()).take(documentOf(HAS, "n1", 7));
    const trouble: { why: string | null } = { why: "nft is not installed" };
    const network = await open(driverWith(trouble), SOON_MS);
    await network.take(documentOf(gone, "n1", 8));
    const released = () => network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
    await expect(released()).rejects.toThrow(`${NOT_RELEASED}: nft is not installed`);
    trouble.why = null;
    await network.retryFailed();
    await released();
  });
});

describe("after a release, the node does not get the address back from a document that was on its way", () => {
  const bare = { ...A, machines: A.machines.map((each) => ({ ...each, floating_ips: ["203.0.113.8"] })) };

  test("because documents with the address are ignored if their poll began before the end of the release", async () => {
    let now_ms = 10;
    const driver = driverWith({ why: null });
    const network = await open(driver, 1_000, { monotonicMs: () => now_ms });
    const answered = (sent_ms: number) => network.answered(sent_ms, { vpcs: [], gone: [] });
    await network.take(documentOf(A, "n1", 7));
    await answered(10);
    now_ms = 20;
    await network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
    expect(await network.take(documentOf(HAS, "n1", 8)), "the address was attached and detached").toBeNull();
    await answered(15);
    expect(await network.take(documentOf(HAS, "n1", 8)), "the poll was sent before the release ended").toBeNull();
    expect(network.have()).toEqual({ [NIC.vpc_id]: 7 });
    expect(await network.take(documentOf(bare, "n1", 8))).toMatchObject({ generation: 8, status: "applied" });
    await answered(30);
    expect(await network.take(documentOf(HAS, "n1", 9)), "attached again").toMatchObject({ generation: 9 });
    expect(driver.applied).toEqual(["vpc-4096 7", "vpc-4096 8", "vpc-4096 9"]);
  });

  test("because the release waits for a document that is being stored", async () => {
    const store = await openDocumentStore(f.folder(), () => {});
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const put: typeof store.put = async (document) => {
      begun.resolve();
      await gate.promise;
      await store.put(document);
    };
    const network = await open(undefined, SOON_MS, { store: { ...store, put } });
    const taken = network.take(documentOf(HAS, "n1", 8));
    await begun.promise;
    await expect(network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL)).rejects.toThrow("has not arrived");
    gate.resolve();
    await taken;
    await network.take(documentOf(A, "n1", 9));
    await network.floatingIpReleased(RELEASE, ADDRESS, SIGNAL);
  });
});

test("after a restart, a release waits for another tenant's network only if the job does not name the VPC", async () => {
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
