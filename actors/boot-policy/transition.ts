// The boot policy of the site (docs/booting.md, "Boot policy"). The policy's version is its ETag. A change of the admin
// network rebuilds the pool from which boot records reserve addresses.
import type { BootPolicy } from "../../src/contract/boot.ts";
import { fault, POLICY_CHANGED } from "../../src/contract/fault.ts";
import { audit, effect, go, lock, refuse, reply } from "../engine/effects.ts";
import { type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

/** The only boot policy of a site. */
export const BOOT_POLICY = { kind: "boot-policy", id: "site" } as const;

/** A change of the policy takes this lock exclusively; decisions that use the policy take it shared. */
export const BOOT_POLICY_LOCK = "boot-policy";

/** The addresses that may be reserved, as offsets from the network address. `low` and `high` are included. */
export type PoolRange = {
  readonly low: number;
  readonly high: number;
  /** Offsets that are never reserved: the gateway's offset, if the network has a gateway. */
  readonly except: readonly number[];
};

/**
 * The ranges of all admin networks, as offsets from `network`: the first range in the fields of PoolRange, the others
 * in `more`.
 */
export type PoolSpan = PoolRange & { readonly network: string | null; readonly more: readonly PoolRange[] };

export type BootPolicyMessage = {
  readonly type: "put";
  readonly policy: BootPolicy;
  readonly span: PoolSpan;
  /** The version in If-Match: 0 for the standard policy. Null if any version may be replaced. */
  readonly expected: number | null;
  /** The version of the row that the route read. */
  readonly current: number;
};

export type BootPolicyState = BootPolicy & {
  readonly state: "set";
  readonly id: string;
  readonly updated_at: Date;
};

export const bootPolicyTable: Table<BootPolicyState, BootPolicyMessage> = { put: { absent: put, set: put } };

function put(_s: BootPolicyState | null, m: Of<BootPolicyMessage, "put">, now: Date): Out<BootPolicyState> {
  if (m.expected !== null && m.expected !== m.current) return refuse(CHANGED);
  // A put without If-Match replaces any version: if the policy has changed since the route read it, the route reads the
  // policy again and retries.
  const changed = m.expected === null ? POLICY_CHANGED : CHANGED;
  return go(
    { ...m.policy, id: BOOT_POLICY.id, state: "set", updated_at: now },
    lock(BOOT_POLICY_LOCK),
    { part: "guard", name: "boot_policy_is", args: { version: m.current }, fault: changed },
    effect("rebuild_admin_pool", m.span),
    audit("boot_policy_set", 'BootPolicy::"site"', m.policy),
    reply({ policy: policyView(m.policy), version: m.current + 1 } satisfies BootPolicyReply),
  );
}

/** The reply to a put. It contains the version, so that a repeated request gets the same ETag. */
export type BootPolicyReply = { readonly policy: BootPolicy; readonly version: number };

/** 412: the policy changed since the caller read it. */
const CHANGED = fault("precondition_failed", "the boot policy was changed since you read it; read it again");

/** The policy in force until an operator sets a policy. */
export const STANDARD_POLICY: BootPolicy = {
  auto_enroll: true,
  allowlist: [],
  enrollment_pi: null,
  enrollment_kernel_args: [],
  admin_network: null,
  rack_networks: [],
  label_arguments: [],
};

export function policyView(s: BootPolicy): BootPolicy {
  const { auto_enroll, allowlist, enrollment_pi, enrollment_kernel_args, admin_network } = s;
  const { rack_networks, label_arguments } = s;
  return {
    auto_enroll,
    allowlist,
    enrollment_pi,
    enrollment_kernel_args,
    admin_network,
    rack_networks,
    label_arguments,
  };
}

export const bootPolicy: Behavior<BootPolicyState, BootPolicyMessage> = {
  kind: BOOT_POLICY.kind,
  table: "boot_policy",
  key: "id",
  step: (s, m, now) => runTable(bootPolicyTable, s, m, now),
  deadline: () => null,
  view: policyView,
};
