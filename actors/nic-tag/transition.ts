// A NIC tag: the name under which nodes offer a physical network (docs/networking.md). Nodes and external subnets refer
// to a tag by its name, so the name never changes.
import { conflict, fault } from "../../src/contract/fault.ts";
import type { NicTag } from "../../src/contract/external-network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { guard, lock } from "../engine/effects.ts";
import type { Fault } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState } from "../record/record.ts";

type Columns = Named & { readonly id: string; readonly mtu: number };

export type NicTagMessage = Create<Columns> | Delete;

export type NicTagState = RecordState<Columns>;

export const nicTag = record<NicTagState, NicTagMessage, NicTag>({
  kind: "nic-tag",
  table: "nic_tag",
  noun: "NIC tag",
  resource: "NicTag",
  create: { action: "nic_tag_create", note: ["name", "mtu"] },
  delete: {
    action: "nic_tag_delete",
    note: ["name"],
    parts: ({ name }) => [
      lock(lockKey("nic-tag", name)),
      guard("nic_tag_is_unused", { name }, inUse(name)),
    ],
  },
  view: ({ id, name, description, mtu, created_at }) => (
    { id, name, description, mtu, created_at: toRfc3339(created_at) }
  ),
  constraints: { nic_tag_name: conflict("a NIC tag named <name> already exists") },
});

function inUse(name: string): Fault {
  const message = `NIC tag ${name} is still used by <WHAT>, which must be deleted first`;
  return fault("conflict", message, { error_code: "NicTagInUse" });
}
