// Stores and applies a node's network documents. Tasks of one VPC run one after another. The agent writes a document to
// disk before it applies the document, and applies all stored documents again after a restart.
import type { NetworkDocument, NetworkPollView, NetworkRealizationBody } from "../../src/contract/network-document.ts";
import { createOneAtATime } from "../one-at-a-time.ts";
import { severalAtATime } from "../several-at-a-time.ts";
import { documentProblem } from "./document-check.ts";
import type { DocumentStore } from "./document-store.ts";
import { createGatewayLease } from "./gateway-lease.ts";
import type { Applied, NetworkDriver, TapBytes } from "./network-driver.ts";
import { createNetworkWaits, type NetworkWaits, type Outcome } from "./network-waits.ts";
import { createReleasedAddresses } from "./released-addresses.ts";
import { floatingIpsOf, withFloatingIps } from "./router-addresses.ts";
import { createSenderFilter } from "./sender-filter.ts";
import { type CountReports, createCountReports } from "./rule-counts.ts";
import { type VmNic, vpcsOf } from "./vm-nic.ts";
import type { GuestServices } from "./guests/guest-process.ts";

/** A report about one VPC. The sender adds the id of its node. */
export type Realization = Omit<NetworkRealizationBody, "realizer">;

export type NetworkStatus = {
  readonly vpcs: number;
  /** VPCs whose newest document could not be applied. */
  readonly failed: number;
  /** Differences that this agent found and repaired since its start. */
  readonly repaired: number;
};

export type NodeNetwork = NetworkWaits & {
  /** The generations of the stored documents, by VPC. */
  have(): Readonly<Record<string, number>>;
  documents(): readonly NetworkDocument[];
  inspect: NetworkDriver["inspect"];
  /** Applies the stored documents after a start of the agent. Logs failures. `retryFailed` retries failed documents. */
  restore(): Promise<void>;
  /** Stores and applies a document. Returns null if the document is outdated, or names no VPC or generation. */
  take(document: unknown): Promise<Realization | null>;
  /** Removes the router and the document of a VPC. The next poll reports the removal, because it omits the VPC. */
  remove(vpc_id: string): Promise<void>;
  acceptNodes(underlay_addresses: readonly string[]): Promise<void>;
  /**
   * Notes that the control plane has answered a poll with these documents, and renews the lease of the NAT gateways.
   * Called before the documents are applied.
   * @param sent_ms when the poll was sent
   */
  answered(sent_ms: number, view: Pick<NetworkPollView, "vpcs" | "gone">): Promise<void>;
  /** Returns how many seconds the next poll may wait. `longest_s` is the wait of a node without NAT gateways. */
  pollWaitS(longest_s: number): number;
  /** Applies failed documents again. Returns the reports that changed. */
  retryFailed(): Promise<readonly Realization[]>;
  /** Compares every router with its document and repairs it. Returns the reports that changed. */
  repair(): Promise<readonly Realization[]>;
  /** Returns a report for each VPC: whether the last application of its document succeeded. */
  realizations(): readonly Realization[];
  /** Sets whether the server sends network documents. If an older server does not, no call waits for documents. */
  serverSendsDocuments(sends: boolean): void;
  /**
   * Moves the taps of a running VM into the routers of its VPCs. If the document of a VPC arrives later, its taps move
   * at that time.
   */
  attach(namespace: string, nics: readonly VmNic[]): Promise<void>;
  /** Removes the taps of a VM that has ended. */
  detach(nics: readonly VmNic[]): Promise<void>;
  status(): NetworkStatus;
  readonly counts: CountReports;
  /** Returns the bytes of the taps in the routers, by MAC. */
  tapBytes(): Promise<ReadonlyMap<string, TapBytes>>;
};

export type NodeNetworkOptions = {
  readonly driver: NetworkDriver;
  readonly store: DocumentStore;
  readonly log: (line: string) => void;
  /** DHCP, DNS and metadata for the guests; null if this machine cannot offer them. */
  readonly services?: GuestServices | null;
  readonly wait_limit_ms?: number;
  readonly release_limit_ms?: number;
  /** The clock of the polls. */
  readonly monotonicMs?: () => number;
};

/** How many documents are applied at the same time after a start. Each takes about 0.1 s of one processor. */
const RESTORES_AT_ONCE_MAX = 4;
export function createNodeNetwork(options: NodeNetworkOptions): NodeNetwork {
  const { driver, store, log, services, monotonicMs = () => performance.now() } = options;
  const outcomes = new Map<string, Outcome>();
  const attached = new Map<string, { readonly namespace: string; readonly vpc_id: string }>();
  /** The problem of the last refused document of a VPC, until a good one arrives. Each problem is logged once. */
  const refused = new Map<string | undefined, string>();
  const serialized = createOneAtATime();
  const senders = createSenderFilter(driver, store);
  const lease = createGatewayLease(monotonicMs);
  const released = createReleasedAddresses(monotonicMs);
  let is_supported = true;
  let repaired = 0;

  /** Applies the stored document. A failure is an outcome and is not thrown. */
  async function converge(document: NetworkDocument): Promise<Applied | null> {
    const { vpc_id, generation } = document;
    const before = outcomes.get(vpc_id);
    const floating_ips = withFloatingIps(before?.floating_ips ?? null, document);
    if (before !== undefined) outcomes.set(vpc_id, { ...before, floating_ips });
    try {
      // The filter of senders comes before the routes, so that the first packets of a new node are accepted.
      await senders.set();
      // For a newer document, the driver does not read the router first, because a tenant may be waiting. If the last
      // attempt failed, or the document is not newer, the driver reads the router: the router may have remains of the
      // attempt, or changes by others.
      const trusts_last = before?.problem === null && before.generation < generation;
      const applied = await driver.apply(document, tapsOf(vpc_id), { trusts_last });
      await holdGateways(document);
      outcomes.set(vpc_id, { generation, problem: null, floating_ips: floatingIpsOf(document) });
      if (before?.generation !== generation || before.problem !== null) services?.update(document);
      return applied;
    } catch (error) {
      const problem = (error as Error).message;
      if (before?.problem !== problem) log(`network: VPC ${vpc_id} could not be applied: ${problem}`);
      outcomes.set(vpc_id, { generation, problem, floating_ips });
      return null;
    }
  }

  function tapsOf(vpc_id: string): ReadonlyMap<string, string> {
    const own = [...attached].filter(([, tap]) => tap.vpc_id === vpc_id);
    return new Map(own.map(([mac, { namespace }]) => [mac, namespace]));
  }

  async function holdGateways(document: NetworkDocument): Promise<void> {
    const { addresses, left_s } = lease.of(document);
    if (addresses.length > 0 && left_s > 0) await driver.holdGateways(document.vni, addresses, left_s);
  }

  /**
   * Renews the gateways of a VPC. If the lease had ended, applies the whole document, because the kernel may have
   * removed routes together with the gateways' addresses.
   */
  async function renew(vpc_id: string, has_ended: boolean): Promise<void> {
    const document = store.get(vpc_id);
    if (document === undefined || document.nat_gateways.length === 0) return;
    const { floating_ips = null, problem = null } = outcomes.get(vpc_id) ?? {};
    if (has_ended && problem === null) return void await converge(document);
    await holdGateways(document).catch((error) => {
      // The next round of `retryFailed` repairs the router.
      const { generation } = document;
      if (problem === null) outcomes.set(vpc_id, { generation, problem: error.message, floating_ips });
    });
  }

  /** Applies the stored document of a VPC again, if there is one. */
  async function convergeStored(vpc_id: string): Promise<Applied | null> {
    const document = store.get(vpc_id);
    return document === undefined ? null : await converge(document);
  }

  function realizationOf(vpc_id: string): Realization {
    const { generation, problem } = outcomes.get(vpc_id)!;
    const resource = { kind: "vpc", id: vpc_id } as const;
    return { resource, generation, status: problem === null ? "applied" : "failed", message: problem };
  }

  async function take(given: unknown): Promise<Realization | null> {
    const problem = documentProblem(given);
    if (problem !== null) return refusalOf(given, problem);
    const document = given as NetworkDocument;
    refused.delete(document.vpc_id);
    return await serialized(document.vpc_id, async () => {
      if ((store.get(document.vpc_id)?.generation ?? -Infinity) > document.generation) return null;
      return await released.unlessOutdated(document, async () => {
        await store.put(document);
        await converge(document);
        return realizationOf(document.vpc_id);
      });
    });
  }

  /** Returns the report about a document that the node cannot read. The last applied document stays in force. */
  function refusalOf(given: unknown, problem: string): Realization | null {
    const { vpc_id, generation } = (given ?? {}) as Partial<NetworkDocument>;
    // The server sends the document with each poll, so only a new problem is logged.
    if (refused.get(vpc_id) !== problem) log(`network: the document of VPC ${vpc_id} is refused: ${problem}`);
    refused.set(vpc_id, problem);
    if (typeof vpc_id !== "string" || typeof generation !== "number") return null;
    return { resource: { kind: "vpc", id: vpc_id }, generation, status: "failed", message: problem };
  }

  const keptVnis = (without?: string): ReadonlySet<number> =>
    new Set(store.all().filter(({ vpc_id }) => vpc_id !== without).map(({ vni }) => vni));

  async function remove(vpc_id: string): Promise<void> {
    await serialized(vpc_id, async () => {
      const document = store.get(vpc_id);
      if (document !== undefined) await services?.close(document.vni);
      await driver.keepOnly(keptVnis(vpc_id));
      await store.remove(vpc_id);
      outcomes.delete(vpc_id);
      refused.delete(vpc_id);
      // The driver has removed the filter with the last router.
      if (store.all().length === 0) {
        senders.forget();
        await store.setNodes(null);
      }
    });
  }

  async function repairOne(vpc_id: string): Promise<Realization | null> {
    const before = outcomes.get(vpc_id);
    const applied = await convergeStored(vpc_id);
    if (before?.problem === null && applied !== null) {
      const differences = applied.changes + (applied.ruleset_replaced ? 1 : 0);
      repaired += differences;
      const noun = differences === 1 ? "difference" : "differences";
      if (differences > 0) log(`network: VPC ${vpc_id}: repaired ${differences} ${noun}`);
    }
    const after = outcomes.get(vpc_id);
    return after === undefined || after.problem === before?.problem ? null : realizationOf(vpc_id);
  }

  async function repairAll(vpc_ids: readonly string[]): Promise<readonly Realization[]> {
    const changed: Realization[] = [];
    for (const vpc_id of vpc_ids) {
      const realization = await serialized(vpc_id, () => repairOne(vpc_id));
      if (realization !== null) changed.push(realization);
    }
    return changed;
  }

  const hasFailed = (vpc_id: string) => (outcomes.get(vpc_id)?.problem ?? null) !== null;

  const isUsed = () => driver.carries_packets && is_supported;
  const waits = createNetworkWaits({ ...options, outcomes, released, isUsed });

  return {
    have: () => Object.fromEntries(store.all().map(({ vpc_id, generation }) => [vpc_id, generation])),
    documents: () => store.all(),
    inspect: driver.inspect,
    restore: async () => {
      // The services come first: after a restart of the agent, guests have no DNS, DHCP and metadata until this call.
      // The services of a router that does not exist yet start when the router exists.
      for (const document of store.all()) services?.update(document);
      await driver.keepOnly(keptVnis()).catch((error) => log(`network: ${error.message}`));
      await senders.set().catch((error) => log(`network: ${error.message}`));
      const restoreOne = (document: NetworkDocument) => serialized(document.vpc_id, converge.bind(null, document));
      await severalAtATime(RESTORES_AT_ONCE_MAX, [...store.all()], restoreOne);
    },
    take,
    remove,
    acceptNodes: async (underlay_addresses) => {
      if (JSON.stringify(underlay_addresses) === JSON.stringify(store.nodes())) return;
      await senders.set(underlay_addresses);
      await store.setNodes(underlay_addresses);
    },
    answered: async (sent_ms, { vpcs, gone }) => {
      released.answered(sent_ms);
      for (const vpc_id of gone) lease.sent(vpc_id, null);
      for (const document of vpcs) lease.sent(document.vpc_id, document);
      const renewed = lease.answered(sent_ms);
      if (renewed === "nothing") return;
      for (const { vpc_id } of store.all()) {
        await serialized(vpc_id, () => renew(vpc_id, renewed === "ended lease"));
      }
    },
    pollWaitS: (longest_s) => lease.pollWaitS(longest_s, store.all()),
    retryFailed: () => repairAll(store.all().map(({ vpc_id }) => vpc_id).filter(hasFailed)),
    repair: async () => {
      senders.forget();
      await senders.set();
      return await repairAll(store.all().map(({ vpc_id }) => vpc_id));
    },
    realizations: () => [...outcomes.keys()].map(realizationOf),
    serverSendsDocuments: (sends) => void (is_supported = sends),
    attach: async (namespace, nics) => {
      for (const { mac, vpc_id } of nics) attached.set(mac, { namespace, vpc_id });
      for (const vpc_id of vpcsOf(nics)) await serialized(vpc_id, () => convergeStored(vpc_id));
    },
    detach: async (nics) => {
      for (const { mac } of nics) attached.delete(mac);
      for (const vpc_id of vpcsOf(nics)) {
        await serialized(vpc_id, async () => {
          const document = store.get(vpc_id);
          if (document === undefined) return;
          for (const nic of nics.filter((each) => each.vpc_id === vpc_id)) {
            await driver.removeTap(document.vni, nic.mac);
          }
          await converge(document);
        });
      }
    },
    ...waits,
    counts: createCountReports(() => Promise.all(store.all().map(({ vni }) => driver.ruleCounts(vni)))),
    tapBytes: async () => {
      const all = await Promise.all(store.all().map(({ vni }) => driver.tapBytes(vni)));
      return new Map(all.flatMap((each) => [...each]));
    },
    status: () => ({
      vpcs: store.all().length,
      failed: [...outcomes.values()].filter(({ problem }) => problem !== null).length,
      repaired,
    }),
  };
}
