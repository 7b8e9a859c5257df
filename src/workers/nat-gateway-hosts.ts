// Chooses the node of each NAT gateway. Every process does this. If another process chose first, the gateway's actor
// ignores the choice of this process. A gateway never has two nodes (docs/networking.md, "Where NAT gateways run").
import type { Ports } from "../../actors/engine/ports.ts";
import { CN_LIVE_S, NAT_GATEWAY_FENCE_S } from "../contract/limits.ts";
import { type Candidate, type Homeless, isOff, type Part, type Unfit } from "../lib/placement/nat-gateway-host.ts";
import { createLoop } from "./loop.ts";

/** Messages to a gateway. */
export type HostMessage =
  | { readonly type: "leave_host"; readonly server_uuid: string }
  | {
    readonly type: "take_host";
    readonly server_uuid: string;
    readonly nic_tag: string;
    readonly left_at: string | null;
  };

export type NatGatewayHostsOptions = {
  readonly unfit: (live_s: number, rows_max: number) => Promise<readonly Unfit[]>;
  readonly homeless: (fence_s: number, part: Part) => Promise<readonly Homeless[]>;
  readonly candidates: (live_s: number, nic_tags: readonly string[]) => Promise<readonly Candidate[]>;
  /** Lists the nodes that serve floating IPs of the gateway's VPC in another external network. */
  readonly floating: (id: string) => Promise<readonly string[]>;
  readonly send: (id: string, message: HostMessage) => Promise<unknown>;
  /** Releases the addresses of deleted gateways that no node can still run. */
  readonly releaseAddresses: (fence_s: number, rows_max: number) => Promise<void>;
  readonly ports: Pick<Ports, "report">;
  /** Default: ROWS_MAX. */
  readonly rows_max?: number;
};

/** The maximum number of gateways that each step of a pass handles. */
const ROWS_MAX = 500;
/** The pause between two passes: the longest time that a new gateway usually waits for its node. */
const EVERY_MS = 1_000;

export function createNatGatewayHosts(options: NatGatewayHostsOptions) {
  const { unfit, homeless, candidates, floating, send, releaseAddresses, ports, rows_max = ROWS_MAX } = options;
  /**
   * The gateways without a node. Each value is the generation of the VPC at the time when this process first saw that
   * the gateway has no node. The key is the gateway's id and the time at which the gateway left its last node.
   */
  let without = new Map<string, number>();
  /**
   * The entries of `without` for the gateways that the present round has read. A round reads all gateways without a
   * node once.
   */
  let of_round = new Map<string, number>();
  /** The last gateway that the present round has read. The next pass continues after it. Null begins a new round. */
  let after: string | null = null;

  async function pass(): Promise<void> {
    try {
      const leaving = await unfit(CN_LIVE_S, rows_max);
      await Promise.all(leaving.map(({ id, server_uuid }) => send(id, { type: "leave_host", server_uuid })));
      const all = await homeless(NAT_GATEWAY_FENCE_S, { rows_max, after });
      after = all.length < rows_max ? null : all.at(-1)!.id;
      for (const each of all) {
        const generation = without.get(keyOf(each)) ?? each.generation;
        without.set(keyOf(each), generation);
        of_round.set(keyOf(each), generation);
      }
      if (after === null) [without, of_round] = [of_round, new Map()];
      await place(all);
      await releaseAddresses(NAT_GATEWAY_FENCE_S, rows_max);
    } catch (error) {
      ports.report("background work failed: nodes of NAT gateways", error);
    }
  }

  async function place(all: readonly Homeless[]): Promise<void> {
    const free = all.filter((each) => isOff(each, without.get(keyOf(each))!));
    const tags = [...new Set(free.flatMap(({ nic_tag }) => nic_tag ?? []))];
    if (tags.length === 0) return;
    const nodes = (await candidates(CN_LIVE_S, tags)).map((node) => ({ ...node }));
    for (const { id, nic_tag, barred, left_at } of free) {
      const eligible = nodes.filter((node) => node.nic_tag === nic_tag && !barred.includes(node.server_uuid));
      // If a node in `last` ran the gateway, nothing would answer for the node's floating IPs. So all other nodes come
      // first.
      const last = new Set(eligible.length > 1 ? await floating(id) : []);
      const rank = ({ server_uuid }: Candidate) => last.has(server_uuid) ? 1 : 0;
      const [best] = eligible.sort((a, b) => rank(a) - rank(b) || a.gateways - b.gateways);
      if (nic_tag === null || best === undefined) continue;
      for (const node of nodes) if (node.server_uuid === best.server_uuid) node.gateways += 1;
      const { server_uuid } = best;
      await send(id, { type: "take_host", server_uuid, nic_tag, left_at: left_at?.toISOString() ?? null });
    }
  }

  return createLoop(pass, EVERY_MS);
}

function keyOf({ id, left_at }: Homeless): string {
  return `${id} ${left_at?.toISOString() ?? ""}`;
}
