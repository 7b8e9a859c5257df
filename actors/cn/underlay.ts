// A node's address and MTU on the underlay, the network that carries the packets of VPCs. Values that an operator set
// have priority over values that the node reports. If no address was set or reported, other nodes send to the node's
// admin_ip. Two nodes that are not pending cannot have the same address, whether an operator set it or the node
// reported it (docs/networking.md, "The underlay").
import { audit, effect, go } from "../engine/effects.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, resource } from "./state.ts";

type Underlay = Pick<
  CnState,
  "admin_ip" | "underlay_address" | "underlay_mtu" | "underlay_address_set" | "underlay_mtu_set"
>;

/** Returns the address that other nodes send to, and the MTU in bytes; null if unknown. */
export function underlayOf(s: Underlay): { readonly address: string | null; readonly mtu: number | null } {
  return {
    address: s.underlay_address_set ?? s.underlay_address ?? s.admin_ip,
    mtu: s.underlay_mtu_set ?? s.underlay_mtu,
  };
}

/** Returns the recorded values after a report. A value that the report omits does not change. */
export function reportedUnderlay(
  s: Underlay,
  reported: { readonly underlay_address?: string | null; readonly underlay_mtu?: number | null },
) {
  return {
    underlay_address: reported.underlay_address ?? s.underlay_address,
    underlay_mtu: reported.underlay_mtu ?? s.underlay_mtu,
  };
}

/** If the node's address or MTU changed, returns the effect that increases the generation of the node's VPCs. */
export function underlayMoved(before: Underlay & { readonly server_uuid: string }, after: Underlay): Condition[] {
  const [from, to] = [underlayOf(before), underlayOf(after)];
  if (from.address === to.address && from.mtu === to.mtu) return [];
  return [effect("cn_network_changed", { server_uuid: before.server_uuid })];
}

export function setUnderlay(s: CnState, m: Msg<"set_underlay">): Out<CnState> {
  const { server_uuid } = s;
  const set = {
    underlay_address_set: m.underlay_address === undefined ? s.underlay_address_set : m.underlay_address,
    underlay_mtu_set: m.underlay_mtu === undefined ? s.underlay_mtu_set : m.underlay_mtu,
  };
  const next = { ...s, ...set };
  return go(next, ...underlayMoved(s, next), audit("cn_set_underlay", resource(s), { server_uuid, ...set }));
}
