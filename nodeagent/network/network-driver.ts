// Defines the interface between the agent and the routers of its VPCs. `kernel.ts` builds the routers; `simulated.ts`
// only remembers the documents.
import type { NetworkDocument, RuleCount } from "../../src/contract/network-document.ts";
import type { Senders } from "./underlay.ts";

/** The result of `apply`. */
export type Applied = {
  /** Number of changes to the router, without the ruleset. 0 if the router already matched the document. */
  readonly changes: number;
  readonly ruleset_replaced: boolean;
};

/** The namespaces that hold the taps of running VMs until the taps move into a router, by MAC. */
export type AttachedTaps = ReadonlyMap<string, string>;

export type ApplyOptions = {
  /**
   * True: the driver may assume that the router is unchanged since the last application. It then applies only the
   * differences between the last document and the new one, which is much faster. False, the default: the driver
   * compares the router with the document.
   */
  readonly trusts_last?: boolean;
};

/** Bytes of a tap since it was made. The bytes that the tap received are the bytes that the guest sent. */
export type TapBytes = { readonly received: number; readonly sent: number };

/** The names of the taps in a router, and the number of differences from the document. */
export type RouterState = { readonly taps: ReadonlySet<string>; readonly differences: number };

export type NetworkDriver = {
  /** True if a VM must wait for its network before it starts. False for simulated routers, which carry no packets. */
  readonly carries_packets: boolean;
  /**
   * Makes the router of a VPC equal to the document, and moves the given taps into it. The firewall is in force before
   * the first route. Ends the connections that the firewall now forbids. The NAT gateways run only after
   * `holdGateways`.
   */
  apply(document: NetworkDocument, taps?: AttachedTaps, options?: ApplyOptions): Promise<Applied>;
  /**
   * Lets the NAT gateways with these public addresses run on this node for `left_s` seconds from now. Then the kernel
   * stops them, even if the agent does not run.
   */
  holdGateways(vni: number, addresses: readonly string[], left_s: number): Promise<void>;
  /** Removes the tap of a NIC from the router of a VPC, if it is there. */
  removeTap(vni: number, mac: string): Promise<void>;
  /** Returns the bytes of the taps in the router of a VPC, by MAC. Empty without a router. */
  tapBytes(vni: number): Promise<ReadonlyMap<string, TapBytes>>;
  /** Returns the counters of a VPC's rules and NAT gateways since its router was created. Empty without a router. */
  ruleCounts(vni: number): Promise<readonly RuleCount[]>;
  /** Inspects the router of a VPC and changes nothing. Returns null if there is no router. */
  inspect(document: NetworkDocument): Promise<RouterState | null>;
  /** Removes the routers of all VPCs except these. Returns the VNIs of the removed routers. */
  keepOnly(vnis: ReadonlySet<number>): Promise<readonly number[]>;
  /** Lets only these nodes send packets of VPCs to this node. */
  acceptSenders(senders: Senders): Promise<void>;
};
