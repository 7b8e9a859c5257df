// A NIC tag: the name under which nodes offer a physical network. Document 4, 1.16. Its name is its identity for nodes
// and external subnets, so it never changes.
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import type { NicTag } from "../../src/contract/external-network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type NicTagMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly mtu: number;
  }
  | { readonly type: "delete" };

export type NicTagState = {
  readonly state: "live";
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly mtu: number;
  readonly created_at: Date;
};

type Live = At<NicTagState, "live">;

export const nicTagTable: Table<NicTagState, NicTagMessage> = {
  create: { absent: create, live: "NIC tag exists already" },
  delete: { absent: "missing", live: destroy },
};

function create(_s: null, m: Of<NicTagMessage, "create">, now: Date): Out<NicTagState> {
  const { id, name, description, mtu } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { state: "live", id, name, description, mtu, created_at: now },
    audit("nic_tag_create", resource(id), { name, mtu }),
  );
}

function destroy({ id, name }: Live): Out<NicTagState> {
  return go<NicTagState>(
    null,
    lock(lockKey("nic-tag", name)),
    guard("nic_tag_is_unused", { name }, inUse(name)),
    audit("nic_tag_delete", resource(id), { name }),
  );
}

/** Document 4, 0.2. */
function inUse(name: string): Fault {
  const message = `NIC tag ${name} is still used by <WHAT>; delete that first`;
  return fault("conflict", message, { error_code: "NicTagInUse" });
}

function resource(id: string): string {
  return `NicTag::"${id}"`;
}

export function nicTagView({ id, name, description, mtu, created_at }: NicTagState): NicTag {
  return { id, name, description, mtu, created_at: toRfc3339(created_at) };
}

export const nicTag: Behavior<NicTagState, NicTagMessage> = {
  kind: "nic-tag",
  table: "nic_tag",
  key: "id",
  step: (s, m, now) => runTable(nicTagTable, s, m, now),
  deadline: () => null,
  view: nicTagView,
  constraints: { nic_tag_name: conflict("a NIC tag named <name> already exists") },
};
