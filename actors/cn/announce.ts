// A bare machine announces itself through the booter from which it started (docs/nodes.md, "The netboot path").
//
// If the machine's ports or its login show that another machine uses the node's UUID, the announce only records a
// conflict.
import { fault, POLICY_CHANGED } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { macsOf } from "../../src/lib/net/sysinfo-macs.ts";
import type { Admitted } from "../boot-record/messages.ts";
import { serialOf } from "../../src/lib/ids/sysinfo-serial.ts";
import { audit, go, reply, tell, upsert } from "../engine/effects.ts";
import type { Condition, Out, Part } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { proven } from "./claims.ts";
import { revert } from "./setup.ts";
import { BLANK, type CnState, knownPorts, NO_CODE, type On, resource } from "./state.ts";

const NO_WINDOW = fault(
  "forbidden",
  "auto_enroll is off and no auto-approve window is open; open an auto-approve window, then announce again",
  { error_code: "Forbidden" },
);

/** Creates a record in awaiting_setup, without a claim code or a credential. */
export function appear(_s: null, m: Msg<"announce">, now: Date): Out<CnState> {
  const next: On<"awaiting_setup"> = {
    ...BLANK,
    ...described(m),
    state: "awaiting_setup",
    admin_ip: null,
    console_listen_port: null,
    console_tls_spki_sha256_hex: null,
    registered_at: now,
    approved_at: null,
    registration_id: null,
    poll_token_sha256: null,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
    last_seen: now,
  };
  const conditions: Condition[] = [
    { part: "guard", name: "boot_policy_is", args: { version: m.policy_version }, fault: POLICY_CHANGED },
  ];
  if (m.window_needed) conditions.push({ part: "guard", name: "enrolment_window_is_open", args: {}, fault: NO_WINDOW });
  return go(next, ...conditions, seenNow(next, now), ...admitting(m.admitted), announced(next));
}

/** Updates the description of a machine that awaits setup. */
export function announceAgain(s: On<"awaiting_setup">, m: Msg<"announce">, now: Date): Out<CnState> {
  if (isStranger(s, m)) return conflicting(s, m, now);
  const now_described = described(m);
  // An announce without ports proves nothing about the identity, so the known MACs and the recorded conflict stay.
  const known = now_described.macs.length > 0 ? { conflict: null } : { macs: s.macs, announced_macs: s.announced_macs };
  const next = { ...s, ...now_described, ...known, last_seen: now };
  return go(next, seenNow(next, now), ...admitting(m.admitted), announced(next));
}

/**
 * Updates the last heartbeat, and starts to enrol boot records (see `admitting`). Ignores the description in the
 * message, because only a node that awaits setup takes its description from announces.
 */
export function announceKnown(s: CnState, m: Msg<"announce">, now: Date): Out<CnState> {
  if (isStranger(s, m)) return conflicting(s, m, now);
  const next = { ...s, last_seen: now };
  return go(next, seenNow(next, now), ...admitting(m.admitted));
}

/**
 * Ends a setup run whose machine has started again from another booter. The restart stopped the setup script, so the
 * run would otherwise last until its deadline. The run's epoch becomes invalid too, so later reports of the first
 * booter are refused. A run whose bundle was not fetched continues, because no script of the run has begun. To end the
 * run, the machine must have logged in to the broker with the MAC of a known network port. So knowledge of the UUID is
 * not enough to end a run.
 */
export function announceDuringSetup(s: On<"setting_up">, m: Msg<"announce">, now: Date): Out<CnState> {
  if (isStranger(s, m)) return conflicting(s, m, now);
  if (m.started !== true || m.mac === null || !knownPorts(s).includes(m.mac) || !s.bundle_taken) {
    return announceKnown(s, m, now);
  }
  const { server_uuid } = s;
  return revert(
    { ...s, last_seen: now },
    SETUP_INTERRUPTED,
    audit("cn_setup_failed", resource(s), { server_uuid, reason: SETUP_INTERRUPTED }),
    seenNow(s, now),
    ...admitting(m.admitted),
  );
}

export const SETUP_INTERRUPTED =
  "the machine restarted and booted from another booter before its setup ended; approve the setup again";

/**
 * Starts to enrol the boot records of the machine's network ports. Each record gets a message of its own. So if no
 * address is free for one record, the announce and the other records are still accepted.
 */
function admitting(admitted: readonly Admitted[]): readonly Part<CnState>[] {
  return admitted.map((each) => tell({ kind: "boot-record", id: each.mac }, { type: "admit", ...each }));
}

/**
 * An anonymous registration must not block the netboot of a machine. So the announce turns an unproven record into the
 * record of a new machine. The claims of the record stay pending.
 */
export function announcePending(s: On<"pending">, m: Msg<"announce">, now: Date): Out<CnState> {
  if (!s.unproven) return announceKnown(s, m, now);
  const made = appear(null, m, now);
  if (made.out !== "go" || made.next === null) return made;
  const { registered_at, role, traits, placement, claims } = s;
  return {
    ...made,
    next: { ...made.next, ...NO_CODE, registered_at, role, traits, placement, claims },
    parts: [...made.parts, ...proven(s)],
  };
}

/** Records the conflict in the record, where operators see it. Nothing else in the record changes. */
function conflicting(s: CnState, m: Msg<"announce">, now: Date): Out<CnState> {
  const macs = macsOf(m.sysinfo);
  const seen = { announced_at: toRfc3339(now), hostname: m.hostname, macs };
  return go(
    { ...s, conflict: seen },
    audit("cn_announce_conflict", resource(s), { server_uuid: s.server_uuid, macs }),
    reply({ conflict: IDENTITY_CONFLICT }),
  );
}

/** 409 for an announce that seems to come from another machine with the same UUID (see isStranger). */
const IDENTITY_CONFLICT =
  "this server_uuid is known with other network ports: two machines use one identity, or all ports were replaced";

/** The description of a machine in its announce. */
function described(m: Msg<"announce">) {
  const { server_uuid, hostname, sysinfo } = m;
  const macs = macsOf(sysinfo);
  const announced = { announced_sysinfo: sysinfo, announced_macs: macs };
  return { server_uuid, hostname, sysinfo, macs, serial: serialOf(sysinfo), ...announced };
}

/**
 * Returns whether the announce comes from another machine with the node's UUID: the machine logged in to the broker
 * with an unknown MAC, or its announce lists ports but no known port. While no port of the node is known, returns
 * false. The login counts because a machine can forge its inventory, but not its login.
 */
function isStranger(s: CnState, m: Msg<"announce">): boolean {
  const known = knownPorts(s);
  if (known.length === 0) return false;
  if (m.mac !== null && !known.includes(m.mac)) return true;
  const macs = macsOf(m.sysinfo);
  return macs.length > 0 && !macs.some((mac) => known.includes(mac));
}

function seenNow({ server_uuid }: CnState, now: Date) {
  return upsert("cn_signal", ["server_uuid"], { server_uuid, last_seen: now });
}

function announced(s: CnState) {
  return audit("cn_announce", resource(s), { server_uuid: s.server_uuid, hostname: s.hostname });
}
