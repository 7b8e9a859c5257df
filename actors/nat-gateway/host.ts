// The node that runs a NAT gateway. Two nodes never run the same gateway at the same time. After the gateway left a
// node, the next node is chosen only when the earlier node can no longer run the gateway (docs/networking.md, "Where
// NAT gateways run").
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { conflict } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import { vpcChanged } from "../record/vpc-change.ts";

/** The node that the gateway left, and the time at which it left. This node may still run the gateway. */
export type Leaving = { readonly leaving_cn_uuid: string | null; readonly left_at: Date | null };

/** The columns of a NAT gateway that concern its host. */
type Hosted = Leaving & { readonly id: string; readonly vpc_id: string; readonly host_cn_uuid: string | null };

/** A gateway that has never had a host. */
export const hostedNowhere = { host_cn_uuid: null, leaving_cn_uuid: null, left_at: null } as const;

export function leaveHost<S extends Hosted>(
  s: S,
  { server_uuid }: { readonly server_uuid: string },
  now: Date,
): Out<S> {
  if (s.host_cn_uuid !== server_uuid) return { out: "ignore" };
  return go<S>(
    { ...s, host_cn_uuid: null, leaving_cn_uuid: server_uuid, left_at: now },
    vpcChanged(s),
    audit("nat_gateway_leave_host", resource(s), { server_uuid }),
  );
}

type Take = { readonly server_uuid: string; readonly nic_tag: string; readonly left_at: string | null };

export function takeHost<S extends Hosted>(s: S, { server_uuid, nic_tag, left_at }: Take): Out<S> {
  // Another process chose a host meanwhile.
  if (s.host_cn_uuid !== null || (s.left_at?.toISOString() ?? null) !== left_at) return { out: "ignore" };
  return go<S>(
    { ...s, ...hostedNowhere, host_cn_uuid: server_uuid },
    lock(lockKey("cn", server_uuid), true),
    // A gateway of the same VPC in another external network must not get the same node at the same time.
    lock(lockKey("vpc", s.vpc_id)),
    guard("cn_may_host_gateway", { server_uuid, nic_tag, live_s: CN_LIVE_S, gateway_id: s.id }, NO_HOST),
    vpcChanged(s),
    audit("nat_gateway_take_host", resource(s), { server_uuid }),
  );
}

/** No caller sees this refusal: the background worker chooses a host again in its next pass. */
const NO_HOST = conflict("the node can no longer run NAT gateways");

function resource({ id }: { readonly id: string }): string {
  return `NatGateway::"${id}"`;
}
