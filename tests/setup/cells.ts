// Provides a node in each state, and a message of each type of the netboot path, for tests of the transition table.
import type { CnMessage, NewNodeKey } from "../../actors/cn/messages.ts";
import { BLANK, type CnState } from "../../actors/cn/state.ts";
import type { SetupApproval } from "../../src/contract/setup.ts";
import { sysinfoOf } from "./machine.ts";

export const NOW = new Date("2026-03-01T12:00:00.000Z");
export const UUID = "11111111-2222-4333-8444-555555555555";
export const OPERATION = "aaaaaaaa-0000-7000-8000-000000000006";
export const MACS = ["02:00:00:00:00:01", "02:00:00:00:00:02"];
export const EPOCH = 7;

export const KEY: NewNodeKey = {
  id: "aaaaaaaa-0000-7000-8000-000000000002",
  lookup: "abcdefghijkl",
  secret_sha256: "ab".repeat(32),
  sealed: "s1.key",
  sealed_tickets: "s1.tickets",
  user_id: "aaaaaaaa-0000-7000-8000-000000000003",
};

const APPROVAL: SetupApproval = {
  disk_layout: "mirror",
  disk_width: null,
  disk_spares: null,
  disk_exclude: [],
  disk_cache: true,
  disk_compress: null,
  hostname: null,
};

const BASE = {
  ...BLANK,
  server_uuid: UUID,
  hostname: "bare-1",
  admin_ip: null,
  sysinfo: sysinfoOf(MACS),
  macs: MACS,
  serial: "TAG123",
  announced_sysinfo: sysinfoOf(MACS),
  announced_macs: MACS,
  bound_macs: MACS,
  root_password_hash: "$6$salt$hash",
  console_listen_port: null,
  console_tls_spki_sha256_hex: null,
  registered_at: NOW,
  registration_id: null,
  poll_token_sha256: null,
} as const;
const NO_KEY = { bound_api_key_id: null, pending_credential: null, ticket_keys: null } as const;
const WITH_KEY = { bound_api_key_id: KEY.id, pending_credential: KEY.sealed, ticket_keys: KEY.sealed_tickets } as const;

export const AWAITING = { ...BASE, ...NO_KEY, state: "awaiting_setup", approved_at: null } as const;
export const SETTING_UP = {
  ...BASE,
  ...WITH_KEY,
  state: "setting_up",
  approved_at: NOW,
  setup_epoch: EPOCH,
  setup_operation_id: OPERATION,
  disk_layout: APPROVAL,
  bundle_taken: true,
} as const;

export const IN: Record<string, CnState | null> = {
  absent: null,
  pending: {
    ...BASE,
    ...NO_KEY,
    state: "pending",
    approved_at: null,
    registration_id: OPERATION,
    poll_token_sha256: "cd".repeat(32),
  },
  approved: { ...BASE, ...WITH_KEY, state: "approved", approved_at: NOW },
  disabled: { ...BASE, ...WITH_KEY, state: "disabled", approved_at: NOW },
  awaiting_setup: AWAITING,
  setting_up: SETTING_UP,
};

export const MESSAGES = {
  announce: {
    type: "announce",
    server_uuid: UUID,
    hostname: "bare-2",
    sysinfo: sysinfoOf(MACS),
    policy_version: 1,
    window_needed: false,
    mac: null,
    admitted: [],
  },
  approve_setup: { type: "approve_setup", approval: APPROVAL, epoch: EPOCH + 1, operation_id: OPERATION },
  take_bundle: { type: "take_bundle", key: KEY },
  setup_delivered: {
    type: "setup_delivered",
    epoch: EPOCH,
    token_sha256: "ef".repeat(32),
    mac: MACS[0]!,
    address: "10.20.0.10",
  },
  hand_over_bundle: { type: "hand_over_bundle", epoch: EPOCH, token_sha256: "ef".repeat(32) },
  setup_progressed: { type: "setup_progressed", epoch: EPOCH, step: "pool", message: null, percent: 1 },
  setup_completed: { type: "setup_completed", epoch: EPOCH, enrollment_pi: "pi", admin_ip: null },
  setup_failed: { type: "setup_failed", epoch: EPOCH, reason: "no disks" },
  revert_setup: { type: "revert_setup", epoch: EPOCH, reason: "abandoned" },
  set_traits: { type: "set_traits", traits: { rack: "1" } },
  set_placement: { type: "set_placement", patch: { cordoned: true } },
  set_root_password: { type: "set_root_password", root_password_hash: null },
  factory_reset: { type: "factory_reset" },
  remove: { type: "remove" },
  tick: { type: "tick" },
} as const satisfies { readonly [T in CnMessage["type"]]?: Extract<CnMessage, { type: T }> };
