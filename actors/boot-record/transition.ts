// The states of a boot record (docs/booting.md, "Boot records"). In the table, each row is a message and each column is
// a state.
//
// A record gets its address when it starts to enrol, or earlier if an operator turns on rescue. The record keeps the
// address forever, even if its node is reset or removed, and if the record is reactivated. The commit chooses the
// lowest free address of the admin network.
import type { Networking } from "../../src/contract/boot.ts";
import { conflict, fault, POLICY_CHANGED } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { allocate, audit, go, guard, lock, otherwise, refuse } from "../engine/effects.ts";
import { BOOT_POLICY_LOCK } from "../boot-policy/transition.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior, Condition, Out } from "../engine/types.ts";
import type { BootRecordMessage, Declared, Msg, Segment } from "./messages.ts";
import type { BootRecordState, On } from "./state.ts";
import { bootRecordView } from "./view.ts";

const ADMIN_POOL = "admin-network";

const BUSY = "boot record is <STATE>; only a decommissioned record can be reactivated";

export const bootRecordTable: Table<BootRecordState, BootRecordMessage> = {
  seen: { absent: appear, discovered: "ignore", enrolling: "ignore", enrolled: "ignore", decommissioned: "ignore" },
  authorize: {
    absent: authorizeUnseen,
    discovered: authorize,
    enrolling: "ignore",
    enrolled: "boot record is <STATE> already",
    decommissioned: "boot record is <STATE>; reactivate it first",
  },
  reactivate: {
    absent: "missing",
    discovered: "ignore",
    enrolling: BUSY,
    enrolled: BUSY,
    decommissioned: reactivate,
  },
  admit: { absent: "ignore", discovered: admit, enrolling: "ignore", enrolled: "ignore", decommissioned: "ignore" },
  rescue: { absent: "missing", discovered: rescue, enrolling: rescue, enrolled: rescue, decommissioned: rescue },
  assign: { absent: "missing", discovered: assign, enrolling: assign, enrolled: assign, decommissioned: assign },
  set_arguments: {
    absent: "missing",
    discovered: setArguments,
    enrolling: setArguments,
    enrolled: setArguments,
    decommissioned: setArguments,
  },
  decommission: {
    absent: "missing",
    discovered: decommission,
    enrolling: decommission,
    enrolled: decommission,
    decommissioned: "ignore",
  },
  converge: {
    absent: "missing",
    discovered: converge,
    enrolling: converge,
    enrolled: converge,
    decommissioned: converge,
  },
  enroll: { absent: "ignore", discovered: "ignore", enrolling: enroll, enrolled: "ignore", decommissioned: "ignore" },
  rearm: { absent: "ignore", discovered: "ignore", enrolling: "ignore", enrolled: rearm, decommissioned: "ignore" },
  retire: { absent: "ignore", discovered: retire, enrolling: retire, enrolled: retire, decommissioned: "ignore" },
};

/** Enrols an unknown machine if the policy allows it and an address is free. Otherwise only records the machine. */
function appear(_s: null, m: Msg<"seen">, now: Date): Out<BootRecordState> {
  const note = audit("boot_record_seen", resource(m), { mac: m.mac });
  const noted = go<BootRecordState>(discovered(m, now, "booter"), ...policyHolds(m), note);
  if (!m.enroll || m.segment === null) return noted;
  const next = enrolling({ record: discovered(m, now, "booter"), ...m, segment: m.segment }, now);
  return go<BootRecordState>(next, ...policyHolds(m), reserve(m), note, otherwise(noted));
}

function authorizeUnseen(_s: null, m: Msg<"authorize">, now: Date): Out<BootRecordState> {
  return authorize(discovered(m, now, "operator"), m, now);
}

function authorize(s: On<"discovered">, m: Msg<"authorize">, now: Date): Out<BootRecordState> {
  const note = audit("boot_record_authorize", resource(m), { mac: m.mac });
  // A record that was enrolled or in rescue before keeps its address.
  if (s.address !== null) return go<BootRecordState>({ ...s, state: "enrolling", updated_at: now }, note);
  if (m.segment === null) return refuse(NO_ADMIN_NETWORK);
  const next = enrolling({ record: s, ...m, segment: m.segment }, now);
  return go<BootRecordState>(next, ...policyHolds(m), reserve(m), note);
}

function reactivate(s: On<"decommissioned">, _m: Msg<"reactivate">, now: Date): Out<BootRecordState> {
  return go<BootRecordState>(
    { ...s, state: "discovered", server_uuid: null, updated_at: now },
    audit("boot_record_reactivate", resource(s), { mac: s.mac }),
  );
}

/** Enrols a discovered record whose machine announced itself and meets the policy. */
function admit(s: On<"discovered">, m: Msg<"admit">, now: Date): Out<BootRecordState> {
  const note = audit("boot_record_admit", resource(s), { mac: s.mac });
  if (s.address !== null) return go<BootRecordState>({ ...s, state: "enrolling", updated_at: now }, note);
  return go<BootRecordState>(
    { ...s, state: "enrolling", ...placed(m), updated_at: now },
    ...policyHolds(m),
    reserve(m),
    note,
  );
}

/**
 * Turns rescue on or off. The booter serves a record only at its address. So if rescue is turned on for a record
 * without an address, the record gets an address.
 */
function rescue(s: BootRecordState, m: Msg<"rescue">, now: Date): Out<BootRecordState> {
  const note = audit(m.on ? "boot_record_rescue" : "boot_record_rescue_clear", resource(s), { mac: s.mac });
  if (m.on && s.address === null) {
    const { segment } = m;
    if (segment === null) return refuse(NO_ADMIN_NETWORK);
    const next = { ...s, ...placed({ ...m, segment }), rescue: true, updated_at: now };
    return go<BootRecordState>(next, ...policyHolds(m), reserve(m), note);
  }
  return s.rescue === m.on ? { out: "ignore" } : go({ ...s, rescue: m.on, updated_at: now }, note);
}

function assign(s: BootRecordState, m: Msg<"assign">, now: Date): Out<BootRecordState> {
  return go(
    { ...s, assigned_pi: m.platform_image, updated_at: now },
    audit("boot_record_assign", resource(s), { mac: s.mac, platform_image: m.platform_image }),
  );
}

/** The boot arguments belong to the hardware, so the record keeps them when the node is reset or removed. */
function setArguments(s: BootRecordState, m: Msg<"set_arguments">, now: Date): Out<BootRecordState> {
  const { kernel_args, console } = m.boot_arguments;
  return go(
    { ...s, kernel_args, console, updated_at: now },
    audit("boot_record_arguments", resource(s), { mac: s.mac, kernel_args, console }),
  );
}

function decommission(
  s: On<"discovered"> | On<"enrolling"> | On<"enrolled">,
  _m: Msg<"decommission">,
  now: Date,
): Out<BootRecordState> {
  const next: BootRecordState = { ...unassigned(s), state: "decommissioned", updated_at: now };
  const note = audit("boot_record_decommission", resource(s), { mac: s.mac });
  if (s.server_uuid === null) return go(next, note);
  return go(
    next,
    lock(lockKey("cn", s.server_uuid)),
    guard("no_active_cn", { server_uuid: s.server_uuid }, "the node of this boot record is in use; disable it first"),
    note,
  );
}

function converge(s: BootRecordState, m: Msg<"converge">, now: Date): Out<BootRecordState> {
  const { hostname } = m.declared;
  if (s.address === null) return go({ ...s, hostname, updated_at: now }, converged(s, m));
  const { aggregate: _undeclared, ...kept } = s.networking;
  const networking = { ...kept, ...networkingOf(m.declared) };
  return go({ ...s, hostname, networking, updated_at: now }, converged(s, m));
}

function converged(s: BootRecordState, m: Msg<"converge">) {
  return audit("boot_record_converge", resource(s), { mac: s.mac, declared: m.declared });
}

function enroll(s: On<"enrolling">, m: Msg<"enroll">, now: Date): Out<BootRecordState> {
  // A record that is bound to another machine stays unchanged.
  if (s.server_uuid !== null && s.server_uuid !== m.server_uuid) return { out: "ignore" };
  const assigned_pi = s.assigned_pi ?? m.enrollment_pi;
  if (assigned_pi === null) return refuse(NO_IMAGE);
  return go<BootRecordState>({ ...s, state: "enrolled", server_uuid: m.server_uuid, assigned_pi, updated_at: now });
}

function rearm(s: On<"enrolled">, m: Msg<"rearm">, now: Date): Out<BootRecordState> {
  if (s.server_uuid !== m.server_uuid) return { out: "ignore" };
  return go<BootRecordState>({ ...unassigned(s), state: "enrolling", updated_at: now });
}

function retire(
  s: On<"discovered"> | On<"enrolling"> | On<"enrolled">,
  m: Msg<"retire">,
  now: Date,
): Out<BootRecordState> {
  if (s.server_uuid !== null && s.server_uuid !== m.server_uuid) return { out: "ignore" };
  return go<BootRecordState>({ ...unassigned(s), state: "decommissioned", updated_at: now });
}

/**
 * Removes the assigned image of an enrolled record. The next enrolment assigns the policy's image if no operator has
 * assigned another image by then. In any other state only an operator can have assigned the image, so the record keeps
 * the image.
 */
function unassigned<S extends BootRecordState>(s: S): S | S & { readonly assigned_pi: null } {
  return s.state === "enrolled" ? { ...s, assigned_pi: null } : s;
}

// ------------------------------------------------------------------------------------------------ shared by the cells

const NO_ADMIN_NETWORK = conflict("no admin_network is configured in the boot policy; there is no address to reserve");
const NO_ADDRESS = fault("conflict", "every address of the admin network is reserved", {
  error_code: "PoolExhausted",
});
const NO_IMAGE = conflict(
  "the boot record has no image: no operator assigned one, and the boot policy names no enrollment_pi",
);

function discovered(
  m: { readonly mac: string; readonly by: string; readonly declared: Declared },
  now: Date,
  source: "booter" | "operator",
): On<"discovered"> {
  return {
    mac: m.mac,
    state: "discovered",
    address: null,
    networking: null,
    provenance: { source, first_seen_at: toRfc3339(now), first_seen_by: m.by },
    server_uuid: null,
    assigned_pi: null,
    rescue: false,
    hostname: m.declared.hostname,
    kernel_args: [],
    console: null,
    created_at: now,
    updated_at: now,
  };
}

type Placing = { readonly segment: Segment; readonly declared: Declared; readonly address_token: string };

function enrolling({ record, ...place }: Placing & { readonly record: On<"discovered"> }, now: Date): On<"enrolling"> {
  return { ...record, state: "enrolling", ...placed(place), updated_at: now };
}

/**
 * Returns the address and the networking spec of the record. Both contain a placeholder, which the commit replaces with
 * the reserved address.
 */
function placed({ segment, declared, address_token }: Placing) {
  const { prefix_len, gateway, vlan_id, resolvers } = segment;
  const networking: Networking = {
    address: address_token,
    prefix_len,
    gateway,
    ...(vlan_id === undefined ? {} : { vlan_id }),
    resolvers: [...resolvers],
    ...networkingOf(declared),
  };
  return { address: address_token, networking };
}

/** The part of a networking spec that comes from the roster. */
function networkingOf({ hostname, nic_tags, aggregate }: Declared) {
  return { hostname, nic_tags: [...nic_tags], ...(aggregate === undefined ? {} : { aggregate }) };
}

/**
 * Returns the conditions that refuse the commit if the policy has changed since the route read it. So the reserved
 * address always belongs to the network that the record stores.
 */
function policyHolds(m: { readonly policy_version: number }): readonly Condition[] {
  return [
    lock(BOOT_POLICY_LOCK, true),
    { part: "guard", name: "boot_policy_is", args: { version: m.policy_version }, fault: POLICY_CHANGED },
  ];
}

function reserve(m: { readonly address_token: string; readonly segment: Segment | null }): Condition {
  return allocate(ADMIN_POOL, m.address_token, NO_ADDRESS, m.segment?.within);
}

function resource(of: { readonly mac: string }): string {
  return `BootRecord::"${of.mac}"`;
}

export const bootRecord: Behavior<BootRecordState, BootRecordMessage> = {
  kind: "boot-record",
  table: "boot_record",
  key: "mac",
  step: (s, m, now) => runTable(bootRecordTable, s, m, now),
  deadline: () => null,
  view: bootRecordView,
};
