// The placement rules that operators set on a node: reserve, cordon, pin, overprovision, fault domain, labels. They
// apply to later placements. A change of the rules and a placement both take the lock of the node. So a placement sees
// either all old rules or all new rules.
import { fault, isFault } from "../../src/contract/fault.ts";
import type { CnPlacementPatch, CnPlacementRules } from "../../src/contract/cn-placement.ts";
import { relabeled } from "../../src/lib/text/labels.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, refuse, reply, upsert } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, resource } from "./state.ts";
import { placementView } from "./view.ts";

const PIN_CONFLICT = fault("conflict", "the node cannot be pinned to this silo or tenant: <WHAT>", {
  error_code: "PinConflict",
});

export function setPlacement(s: CnState, { patch, while_cordoned_for }: Msg<"set_placement">): Out<CnState> {
  const { server_uuid } = s;
  if (while_cordoned_for !== undefined && s.placement.cordoned_reason !== while_cordoned_for) return { out: "ignore" };
  const labels = relabeled(s.placement.labels, patch.labels ?? null);
  if (isFault(labels)) return refuse(labels);
  const placement = { ...patched(s.placement, patch), labels };
  const { pinned_silo_uuid, pinned_tenant_uuid } = placement;
  const repinned = pinned_silo_uuid !== s.placement.pinned_silo_uuid ||
    pinned_tenant_uuid !== s.placement.pinned_tenant_uuid;
  const next = { ...s, placement };
  return go(
    next,
    lock(lockKey("cn", server_uuid)),
    ...(pinned_silo_uuid === null ? [] : [lock(lockKey("silo", pinned_silo_uuid), true)]),
    ...(repinned ? [guard("pin_holds", { pinned_silo_uuid, pinned_tenant_uuid }, PIN_CONFLICT)] : []),
    upsert("cn_placement", ["server_uuid"], { server_uuid, ...placement }),
    audit("cn_placement_set", resource(s), { server_uuid, ...placement }),
    reply(placementView(next)),
  );
}

/**
 * Applies all of a patch except its labels. Rules that the patch omits stay unchanged. The reason of a reserve or a
 * cordon is removed together with the reserve or the cordon.
 */
function patched(held: CnPlacementRules, patch: CnPlacementPatch): CnPlacementRules {
  const { clear, labels: _, ...given } = patch;
  const kept = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const cleared = (clear ?? []).map((field) => [field, null]);
  const next: CnPlacementRules = { ...held, ...Object.fromEntries(kept), ...Object.fromEntries(cleared) };
  return {
    ...next,
    reserved_reason: next.reserved ? next.reserved_reason : null,
    cordoned_reason: next.cordoned ? next.cordoned_reason : null,
  };
}
