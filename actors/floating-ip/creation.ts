// Creates a floating IP. Its address is from the first address source (record/address-source.ts) with a free address.
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, insert, lock, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { allocateFrom, fromFirst } from "../record/address-source.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { FLOATING_IP_ALLOCATE } from "./operation.ts";
import type { Detached, FloatingIpFields, FloatingIpState } from "./state.ts";

type Creation = Of<FloatingIpMessage, "create">;

export function create(_s: null, m: Creation, now: Date): Out<FloatingIpState> {
  const { id, tenant_id, project_id, name, description, labels = {}, token } = m;
  return fromFirst<FloatingIpState>(m, (source) => {
    const { pool_id, family, network } = source;
    const next: Detached = {
      state: "detached",
      id,
      tenant_id,
      project_id,
      name,
      description,
      labels,
      address: token,
      family,
      pool_id,
      network_id: network?.id ?? null,
      external_nic_tag: network?.nic_tag ?? null,
      generation: 0,
      created_at: now,
      updated_at: now,
    };
    const parts: Part<FloatingIpState>[] = [
      lock(lockKey("project", project_id), true),
      ...allocateFrom(source, m),
      insert("public_address", { address: token, floating_ip_id: id }),
      begin(next, m.operation_id),
      audit("floating_ip_create", `FloatingIp::"${id}"`, { ...described(next), operation_id: m.operation_id }),
    ];
    return { next, parts };
  });
}

function begin(s: FloatingIpFields, id: string) {
  const output = { floating_ip_id: s.id, address: s.address };
  return withActor({ kind: "saga", id }, {
    type: "start",
    id,
    saga: FLOATING_IP_ALLOCATE.saga,
    params: { ...output, name: s.name, family: s.family, network_id: s.network_id },
    references: [
      { scope: "floating_ip", id: s.id },
      { scope: "project", id: s.project_id },
      { scope: "tenant", id: s.tenant_id },
    ],
    done: { [FLOATING_IP_ALLOCATE.record]: output },
  });
}

/** The columns that audit entries show. */
export function described({ name, project_id, tenant_id, family, address, network_id }: FloatingIpFields) {
  return { name, project_id, tenant_id, family, address, network_id };
}
