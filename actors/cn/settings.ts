// Settings of a node that operators change in any state: role, reservoir, traits, root password.
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, lock, reply, upsert } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, resource } from "./state.ts";
import { reservoirView } from "./view.ts";

/** Sets the role for later placements; placed instances stay. Each placement on the node takes the same lock. */
export function setRole(s: CnState, m: Msg<"set_role">): Out<CnState> {
  const { server_uuid } = s;
  return go(
    { ...s, role: m.role },
    lock(lockKey("cn", server_uuid)),
    audit("cn_set_role", resource(s), { server_uuid, role: m.role }),
  );
}

export function setReservoir(s: CnState, m: Msg<"set_reservoir">): Out<CnState> {
  const override = { reservoir_enabled: m.reservoir_enabled, reservoir_percent: m.reservoir_percent };
  const next = { ...s, ...override };
  return go(
    next,
    placementRow(next),
    audit("cn_set_reservoir", resource(s), { server_uuid: s.server_uuid, ...override }),
    reply(reservoirView(next, m.defaults)),
  );
}

export function setTraits(s: CnState, m: Msg<"set_traits">): Out<CnState> {
  const next = { ...s, traits: m.traits };
  return go(
    next,
    placementRow(next),
    audit("cn_traits_set", resource(s), { server_uuid: s.server_uuid, traits: m.traits }),
    reply({ traits: m.traits }),
  );
}

/**
 * Sets the hash that the machine gets at its next netboot and in the bundle of its next setup run. The node's running
 * system does not change.
 */
export function setRootPassword(s: CnState, m: Msg<"set_root_password">): Out<CnState> {
  return go(
    { ...s, root_password_hash: m.root_password_hash },
    audit("cn_root_password", resource(s), { server_uuid: s.server_uuid, cleared: m.root_password_hash === null }),
  );
}

/** Upserts the node's placement row with all settings of the reservoir and all traits, including unchanged values. */
function placementRow(s: CnState) {
  const { server_uuid, reservoir_enabled, reservoir_percent, traits } = s;
  return upsert("cn_placement", ["server_uuid"], { server_uuid, reservoir_enabled, reservoir_percent, traits });
}
