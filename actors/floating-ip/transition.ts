// A floating IP of a project. It holds one public address from the unit that makes it to the one that deletes it, which
// is refused while it is attached, and while any node may still answer for it. Document 3, Networking rules. What binds it
// to a NIC is in the file beside this one.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { poolLock } from "../../src/lib/net/public-pool.ts";
import { nameFault, renamed } from "../../src/lib/text/resource-name.ts";
import {
  allocate,
  audit,
  go,
  guard,
  insert,
  lock,
  otherwise,
  refuse,
  release,
  remove,
  withActor,
} from "../engine/effects.ts";
import { type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Json, Out, Part } from "../engine/types.ts";
import { attach, attached, detach, detached, letGo, nothingToReclaim, occupied, reclaim, restore } from "./binding.ts";
import type { AddressSource, FloatingIpMessage } from "./messages.ts";
import { FLOATING_IP_ALLOCATE } from "./operation.ts";
import { AT_REST, type FloatingIpState, type Live, UNBOUND } from "./state.ts";
import { floatingIpView } from "./view.ts";

type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;

export const floatingIpTable: Table<FloatingIpState, FloatingIpMessage> = {
  create: { absent: create, live: "floating ip exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: destroy },
  attach: { absent: "missing", live: attach },
  detach: { absent: "missing", live: detach },
  attached: { absent: "ignore", live: attached },
  detached: { absent: "ignore", live: detached },
  reclaim: { absent: nothingToReclaim, live: reclaim },
  restore: { absent: "ignore", live: restore },
  instance_gone: { absent: "ignore", live: letGo },
  withdraw: { absent: "ignore", live: withdraw },
};

function create(_s: null, m: Msg<"create">, now: Date): Out<FloatingIpState> {
  // What cannot be asked for comes before the rule of names.
  if (m.sources.length === 0) return refuse(m.refusal);
  const broken = nameFault(m.name);
  if (broken !== null) return refuse(broken);
  let out: Out<FloatingIpState> | null = null;
  for (const source of m.sources.toReversed()) {
    const { next, parts } = takeFrom(source, m, now);
    out = go(next, ...parts, ...(out === null ? [] : [otherwise(out)]));
  }
  return out ?? refuse(m.refusal);
}

function takeFrom({ pool_id, family, network }: AddressSource, m: Msg<"create">, now: Date) {
  const { id, tenant_id, project_id, name, description, token } = m;
  const next: FloatingIpState = {
    state: "live",
    id,
    tenant_id,
    project_id,
    name,
    description,
    address: token,
    family,
    pool_id,
    network_id: network?.id ?? null,
    external_nic_tag: network?.nic_tag ?? null,
    ...UNBOUND,
    ...AT_REST,
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
    audit("floating_ip_create", resource(id), { ...described(next), operation_id: m.operation_id }),
  ];
  return { next, parts };
}

/** What was read of the network holds until the commit. Whoever deletes it holds the lock alone. */
function offered(network_id: string, { silo_id, network_pool_id }: Msg<"create">): Part<FloatingIpState>[] {
  return [
    lock(lockKey("external-subnet", network_id), true),
    guard("external_network_is_offered", { network_id, silo_id, network_pool_id }, NOT_FOUND),
  ];
}

function update(s: Live, m: Msg<"update">, now: Date): Out<FloatingIpState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    { ...next, updated_at: now },
    audit("floating_ip_update", resource(s.id), { name: next.name }),
  );
}

function destroy(s: Live): Out<FloatingIpState> {
  return giveBack(s, {});
}

function withdraw(s: Live, { operation_id }: Msg<"withdraw">): Out<FloatingIpState> {
  return giveBack(s, { operation_id });
}

function giveBack(s: Live, of: { readonly operation_id?: string }): Out<FloatingIpState> {
  if (s.attached_to !== null) {
    return refuse(conflict(`floating ip ${s.id} is currently attached; detach first`));
  }
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  return go<FloatingIpState>(
    null,
    // Otherwise whoever is given the address next would share it with that node.
    guard(
      "floating_ip_is_off_nodes",
      { floating_ip_id: s.id },
      `floating ip ${s.id} is still held by node <WHAT>, which has not released it yet`,
    ),
    release(s.pool_id, s.address),
    remove("public_address", { address: s.address }),
    audit("floating_ip_delete", resource(s.id), { ...described(s), ...of }),
  );
}

function begin(s: FloatingIpState, id: string) {
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

function described({ name, project_id, tenant_id, family, address, network_id }: FloatingIpState) {
  return { name, project_id, tenant_id, family, address, network_id } satisfies Json;
}

function resource(id: string): string {
  return `FloatingIp::"${id}"`;
}

export const floatingIp: Behavior<FloatingIpState, FloatingIpMessage> = {
  kind: "floating-ip",
  table: "floating_ip",
  from: "floating_ip_loaded",
  key: "id",
  step: (s, m, now) => runTable(floatingIpTable, s, m, now),
  deadline: () => null,
  view: floatingIpView,
  constraints: {
    floating_ip_name: conflict("a floating ip named <name> already exists in this project"),
    floating_ip_of_project: conflict("the project is gone"),
    floating_ip_bound_to_nic: NOT_FOUND,
  },
};
