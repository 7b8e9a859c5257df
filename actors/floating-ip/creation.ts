// Creates a floating IP. The decision has one alternative per address source; the commit applies the first alternative
// whose source has a free address.
import { NOT_FOUND } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { poolLock } from "../../src/lib/net/public-pool.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { allocate, audit, go, guard, insert, lock, otherwise, refuse, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import type { AddressSource, FloatingIpMessage } from "./messages.ts";
import { FLOATING_IP_ALLOCATE } from "./operation.ts";
import type { Detached, FloatingIpFields, FloatingIpState } from "./state.ts";

type Creation = Of<FloatingIpMessage, "create">;

export function create(_s: null, m: Creation, now: Date): Out<FloatingIpState> {
  // A request without a usable source gets this refusal, even if its name is also invalid.
  if (m.sources.length === 0) return refuse(m.refusal);
  const wrong = nameFault(m.name) ?? labelsFault(m.labels ?? {});
  if (wrong !== null) return refuse(wrong);
  let out: Out<FloatingIpState> | null = null;
  for (const source of m.sources.toReversed()) {
    const { next, parts } = takeFrom(source, m, now);
    out = go<FloatingIpState>(next, ...parts, ...(out === null ? [] : [otherwise<FloatingIpState>(out)]));
  }
  return out ?? refuse(m.refusal);
}

function takeFrom({ pool_id, family, network }: AddressSource, m: Creation, now: Date) {
  const { id, tenant_id, project_id, name, description, labels = {}, token } = m;
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
    ...(m.sources.length > 1 ? [lock(poolLock(pool_id))] : []),
    ...(network === null ? [] : offered(network.id, m)),
    allocate(pool_id, token, m.refusal, network?.within),
    insert("public_address", { address: token, floating_ip_id: id }),
    begin(next, m.operation_id),
    audit("floating_ip_create", `FloatingIp::"${id}"`, { ...described(next), operation_id: m.operation_id }),
  ];
  return { next, parts };
}

/**
 * Checks in the commit that the silo may still use the network. A delete of the network takes the same lock
 * exclusively, so the two commits cannot overlap.
 */
function offered(network_id: string, { silo_id, network_pool_id }: Creation): Part<FloatingIpState>[] {
  return [
    lock(lockKey("external-subnet", network_id), true),
    guard("external_network_is_offered", { network_id, silo_id, network_pool_id }, NOT_FOUND),
  ];
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
