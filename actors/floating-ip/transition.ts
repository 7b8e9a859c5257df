// A floating IP of a project. It holds one public address from the unit that makes it to the one that deletes it, which
// is refused while it is attached. Document 3, Networking rules.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { FloatingIp } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/pure/instant.ts";
import { poolLock } from "../../src/pure/public-pool.ts";
import { nameFault } from "../../src/pure/resource-name.ts";
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
} from "../engine/decide.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Json, Out, Part } from "../engine/types.ts";
import type { AddressSource, FloatingIpMessage } from "./messages.ts";
import type { FloatingIpState } from "./state.ts";

type Live = At<FloatingIpState, "live">;
type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;

/** The operation: its step that commits together with the record. Document 4, 3.2. */
export const FLOATING_IP_ALLOCATE = { saga: "floating-ip-allocate", record: "allocate" } as const;

export const floatingIpTable: Table<FloatingIpState, FloatingIpMessage> = {
  create: { absent: create, live: "floating ip exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: destroy },
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
    attached_to: null,
    attached_instance_id: null,
    hosted_cn: null,
    created_at: now,
    updated_at: now,
  };
  const parts: Part<FloatingIpState>[] = [
    lock(`project:${project_id}`, true),
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
    lock(`external-subnet:${network_id}`, true),
    guard("external_network_is_offered", { network_id, silo_id, network_pool_id }, NOT_FOUND),
  ];
}

function update(s: Live, m: Msg<"update">, now: Date): Out<FloatingIpState> {
  const name = m.name ?? s.name;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { ...s, name, description: m.description ?? s.description, updated_at: now },
    audit("floating_ip_update", resource(s.id), { name }),
  );
}

function destroy(s: Live): Out<FloatingIpState> {
  return giveBack(s, {});
}

/** What stood on the node of the instance went with it. */
function letGo(s: Live, { instance_id }: Msg<"instance_gone">, now: Date): Out<FloatingIpState> {
  if (s.attached_instance_id !== instance_id) return { out: "ignore" };
  return go(
    { ...s, attached_to: null, attached_instance_id: null, hosted_cn: null, updated_at: now },
    audit("floating_ip_detach", resource(s.id), { ...described(s), instance_id, nic_id: s.attached_to }),
  );
}

function withdraw(s: Live, { operation_id }: Msg<"withdraw">): Out<FloatingIpState> {
  return giveBack(s, { operation_id });
}

function giveBack(s: Live, of: { readonly operation_id?: string }): Out<FloatingIpState> {
  if (s.attached_to !== null) {
    return refuse(conflict(`floating ip ${s.id} is currently attached; detach first`));
  }
  return go<FloatingIpState>(
    null,
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

export function floatingIpView(s: FloatingIpState): FloatingIp {
  return {
    id: s.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    name: s.name,
    description: s.description,
    address: s.address,
    family: s.family,
    attached_to: s.attached_to,
    attached_instance_id: s.attached_instance_id,
    network_id: s.network_id,
    external_nic_tag: s.external_nic_tag,
    hosted_cn: s.hosted_cn,
    created_at: toRfc3339(s.created_at),
    updated_at: toRfc3339(s.updated_at),
  };
}

export const floatingIp: Behavior<FloatingIpState, FloatingIpMessage> = {
  kind: "floating-ip",
  table: "floating_ip",
  key: "id",
  step: (s, m, now) => runTable(floatingIpTable, s, m, now),
  deadline: () => null,
  view: floatingIpView,
  constraints: {
    floating_ip_name: conflict("a floating ip named <name> already exists in this project"),
    floating_ip_of_project: conflict("the project is gone"),
  },
};
