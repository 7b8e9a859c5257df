// The states of a compute node (docs/nodes.md, "States"). In the table, each row is a message and each column is a
// state. registration.ts has the cells of the claim-code path. announce.ts, setup.ts and handover.ts have the cells of
// the netboot path. The cells of disable, reset and remove are in retirement.ts.
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior } from "../engine/types.ts";
import type { CnMessage } from "./messages.ts";
import {
  appearByClaim,
  approve,
  endWaiting,
  eraseCredential,
  join,
  NO_PROOF,
  NOT_JOINED,
  refresh,
  refreshInventory,
  reopen,
} from "./registration.ts";
import { announceAgain, announceDuringSetup, announceKnown, announcePending, appear } from "./announce.ts";
import { drain, evacuate } from "./drain.ts";
import { forgetDelivery, handOverBundle, setupDelivered } from "./handover.ts";
import { upgrade } from "./upgrade.ts";
import { disable, enable, factoryReset, forgetKey, removeNode } from "./retirement.ts";
import { setPlacement } from "./placement.ts";
import { setReservoir, setRole, setRootPassword, setTraits } from "./settings.ts";
import {
  approveSetup,
  complete,
  expireSetup,
  fail,
  progress,
  revertAbandoned,
  setupDeadline,
  takeBundle,
} from "./setup.ts";
import type { CnState } from "./state.ts";
import { setUnderlay } from "./underlay.ts";
import { cnView } from "./view.ts";
import { conflict } from "../../src/contract/fault.ts";

const NOT_DISABLED = "cn is <STATE>; only an approved or pending node can be disabled";
const NOT_ENABLED = "cn is <STATE>; only a disabled node can be enabled";
const NOT_BY_CLAIM =
  "cn is <STATE>; a node that is set up by netboot cannot be approved by claim code: approve its setup, or remove " +
  "its record and let its agent register again";
const NOT_BY_CLAIM_NOW =
  "cn is <STATE>; a node that is set up by netboot cannot be approved by claim code: wait until its setup ends";
const KEY_IN_USE =
  "cn is <STATE> and this is its API key; disable the node before deleting the key (opsctl cn disable), or approve a " +
  "new registration of the node, which replaces the key";
const NOT_RESET = "cn is <STATE>; only an approved or disabled node can be factory reset";
const NOT_DRAINED = "cn is <STATE>; only an approved node can be drained";
const NOT_UPGRADED = "cn is <STATE>; only an approved node can be upgraded";
const NOT_EVACUATED = "cn is <STATE>; only an approved node can be evacuated";
const NOT_AWAITING = "cn is <STATE>; only a node that is awaiting setup can be approved for setup";
const NOT_SETTING_UP = "cn is <STATE>; no setup is running on it";
/** The cells for the messages of a setup run, in every state except setting_up. */
const NO_RUN = {
  absent: "missing",
  pending: NOT_SETTING_UP,
  approved: NOT_SETTING_UP,
  disabled: NOT_SETTING_UP,
  awaiting_setup: NOT_SETTING_UP,
} as const;

export const cnTable: Table<CnState, CnMessage> = {
  join: {
    absent: join,
    pending: NOT_JOINED,
    approved: NOT_JOINED,
    disabled: NOT_JOINED,
    awaiting_setup: NOT_JOINED,
    setting_up: NOT_JOINED,
  },
  claimed: {
    absent: appearByClaim,
    pending: "ignore",
    approved: "ignore",
    disabled: reopen,
    awaiting_setup: "ignore",
    setting_up: "ignore",
  },
  last_claim_ended: {
    absent: "ignore",
    pending: endWaiting,
    approved: "ignore",
    disabled: "ignore",
    awaiting_setup: "ignore",
    setting_up: "ignore",
  },
  refresh: {
    absent: NO_PROOF,
    pending: NO_PROOF,
    approved: refresh,
    disabled: NO_PROOF,
    awaiting_setup: refreshInventory,
    setting_up: refreshInventory,
  },
  approve: {
    absent: "missing",
    pending: approve,
    approved: approve,
    disabled: "missing",
    awaiting_setup: NOT_BY_CLAIM,
    setting_up: NOT_BY_CLAIM_NOW,
  },
  key_used: {
    absent: "ignore",
    pending: "ignore",
    approved: eraseCredential,
    disabled: eraseCredential,
    awaiting_setup: "ignore",
    setting_up: eraseCredential,
  },
  key_deleted: {
    absent: "ignore",
    pending: forgetKey,
    approved: KEY_IN_USE,
    disabled: forgetKey,
    awaiting_setup: "ignore",
    setting_up: "cn is <STATE> and needs this API key; wait for setup to finish or fail",
  },
  announce: {
    absent: appear,
    pending: announcePending,
    approved: announceKnown,
    disabled: announceKnown,
    awaiting_setup: announceAgain,
    setting_up: announceDuringSetup,
  },
  approve_setup: {
    absent: "missing",
    pending: NOT_AWAITING,
    approved: NOT_AWAITING,
    disabled: NOT_AWAITING,
    awaiting_setup: approveSetup,
    setting_up: NOT_AWAITING,
  },
  take_bundle: { ...NO_RUN, setting_up: takeBundle },
  setup_delivered: { ...NO_RUN, setting_up: setupDelivered },
  hand_over_bundle: { ...NO_RUN, setting_up: handOverBundle },
  setup_progressed: { ...NO_RUN, setting_up: progress },
  setup_completed: { ...NO_RUN, setting_up: complete },
  setup_failed: { ...NO_RUN, setting_up: fail },
  revert_setup: {
    absent: "ignore",
    pending: "ignore",
    approved: "ignore",
    disabled: "ignore",
    awaiting_setup: "ignore",
    setting_up: revertAbandoned,
  },
  disable: {
    absent: "missing",
    pending: disable,
    approved: disable,
    disabled: disable,
    awaiting_setup: NOT_DISABLED,
    setting_up: NOT_DISABLED,
  },
  enable: {
    absent: "missing",
    pending: NOT_ENABLED,
    approved: enable,
    disabled: enable,
    awaiting_setup: NOT_ENABLED,
    setting_up: NOT_ENABLED,
  },
  set_role: {
    absent: "missing",
    pending: setRole,
    approved: setRole,
    disabled: setRole,
    awaiting_setup: setRole,
    setting_up: setRole,
  },
  set_underlay: {
    absent: "missing",
    pending: setUnderlay,
    approved: setUnderlay,
    disabled: setUnderlay,
    awaiting_setup: setUnderlay,
    setting_up: setUnderlay,
  },
  set_reservoir: {
    absent: "missing",
    pending: setReservoir,
    approved: setReservoir,
    disabled: setReservoir,
    awaiting_setup: setReservoir,
    setting_up: setReservoir,
  },
  set_traits: {
    absent: "missing",
    pending: setTraits,
    approved: setTraits,
    disabled: setTraits,
    awaiting_setup: setTraits,
    setting_up: setTraits,
  },
  set_placement: {
    absent: "missing",
    pending: setPlacement,
    approved: setPlacement,
    disabled: setPlacement,
    awaiting_setup: setPlacement,
    setting_up: setPlacement,
  },
  drain: {
    absent: "missing",
    pending: NOT_DRAINED,
    approved: drain,
    disabled: NOT_DRAINED,
    awaiting_setup: NOT_DRAINED,
    setting_up: NOT_DRAINED,
  },
  evacuate: {
    absent: "missing",
    pending: NOT_EVACUATED,
    approved: evacuate,
    disabled: NOT_EVACUATED,
    awaiting_setup: NOT_EVACUATED,
    setting_up: NOT_EVACUATED,
  },
  upgrade: {
    absent: "missing",
    pending: NOT_UPGRADED,
    approved: upgrade,
    disabled: NOT_UPGRADED,
    awaiting_setup: NOT_UPGRADED,
    setting_up: NOT_UPGRADED,
  },
  set_root_password: {
    absent: "missing",
    pending: setRootPassword,
    approved: setRootPassword,
    disabled: setRootPassword,
    awaiting_setup: setRootPassword,
    setting_up: setRootPassword,
  },
  factory_reset: {
    absent: "missing",
    pending: NOT_RESET,
    approved: factoryReset,
    disabled: factoryReset,
    awaiting_setup: NOT_RESET,
    setting_up: NOT_RESET,
  },
  remove: {
    // A repeated removal succeeds.
    absent: "ignore",
    pending: removeNode,
    approved: "cn is approved; disable it before removing",
    disabled: removeNode,
    awaiting_setup: removeNode,
    setting_up: "cn is <STATE>; wait for setup to finish or fail before removing",
  },
  tick: {
    absent: "ignore",
    pending: "ignore",
    approved: forgetDelivery,
    disabled: "ignore",
    awaiting_setup: "ignore",
    setting_up: expireSetup,
  },
};

export const cn: Behavior<CnState, CnMessage> = {
  kind: "cn",
  table: "cn",
  key: "server_uuid",
  from: "cn_loaded",
  step: (s, m, now) => runTable(cnTable, s, m, now),
  deadline: (s) => {
    if (s.state === "setting_up") return setupDeadline(s);
    return s.state === "approved" && s.setup_delivery !== null ? setupDeadline(s) : null;
  },
  view: cnView,
  constraints: { cn_underlay_address: conflict("another node has this underlay address") },
};
