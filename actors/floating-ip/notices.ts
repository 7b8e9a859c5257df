// The messages to instances and the audit entries that report a change of a floating IP's binding.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { audit, withActor } from "../engine/effects.ts";
import type { Json, With } from "../engine/types.ts";
import type { FloatingIpFields } from "./state.ts";

type ToInstance = { readonly type: string; readonly [field: string]: Json };

/** Sends a message to an instance in the same commit. */
export function toInstance(id: string, message: ToInstance): With {
  return withActor({ kind: "instance", id }, message);
}

/** Removes a floating IP from the record of an instance, unless it stays bound to that instance. */
export function unbound(
  s: FloatingIpFields,
  instance_id: string | undefined,
  kept: string | undefined,
): readonly With[] {
  if (instance_id === undefined || instance_id === kept) return [];
  return [toInstance(instance_id, { type: "floating_ip_unbound", floating_ip_id: s.id })];
}

export function noted(
  { id, tenant_id, project_id, address }: FloatingIpFields,
  action: AuditAction,
  payload: Readonly<Record<string, Json>>,
) {
  return audit(action, `FloatingIp::"${id}"`, { tenant_id, project_id, address, ...payload });
}
