// Runs every cell (a message in a state) of the compute nodes' transition table once. The expected results are
// written here by hand, not read from the table.
import { describe, expect, test } from "vitest";
import type { CnMessage } from "../../actors/cn/messages.ts";
import type { CnState } from "../../actors/cn/state.ts";
import { UNRESTRICTED } from "../../src/contract/cn-placement.ts";
import { cn, cnTable } from "../../actors/cn/transition.ts";
import type { Out } from "../../actors/engine/types.ts";
import type { SetupApproval } from "../../src/contract/setup.ts";
import { EPOCH, KEY, NOW, UUID } from "../setup/cells.ts";

// go:STATE means that the node is in this state afterwards; go:gone means that the node's row is removed. ignore:
// nothing is written. 404, 409: the message is refused with this status.
const CELLS = `
message            absent             pending      approved           disabled           awaiting_setup     setting_up
join               go:approved        409          409                409                409                409
claimed            go:pending         ignore       ignore             go:pending         ignore             ignore
last_claim_ended   ignore             go:disabled  ignore             ignore             ignore             ignore
refresh            409                409          go:approved        409                go:awaiting_setup  go:setting_up
approve            404                go:approved  go:approved        404                409                409
key_used           ignore             ignore       go:approved        go:disabled        ignore             go:setting_up
key_deleted        ignore             ignore       409                go:disabled        ignore             409
announce           go:awaiting_setup  go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
approve_setup      404                409          409                409                go:setting_up      409
take_bundle        404                409          409                409                409                go:setting_up
setup_delivered    404                409          409                409                409                409
hand_over_bundle   404                409          409                409                409                409
setup_progressed   404                409          409                409                409                go:setting_up
setup_completed    404                409          409                409                409                go:approved
setup_failed       404                409          409                409                409                go:awaiting_setup
revert_setup       ignore             ignore       ignore             ignore             ignore             go:awaiting_setup
disable            404                go:disabled  go:disabled        go:disabled        409                409
enable             404                409          go:approved        go:approved        409                409
set_role           404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_underlay       404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_reservoir      404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_traits         404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_placement      404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
drain              404                409          go:approved        409                409                409
evacuate           404                409          go:approved        409                409                409
upgrade            404                409          go:approved        409                409                409
set_root_password  404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
factory_reset      404                409          go:awaiting_setup  go:awaiting_setup  409                409
remove             ignore             go:gone      409                go:gone            go:gone            409
tick               ignore             ignore       ignore             ignore             ignore             ignore
`;
const [HEAD = "", ...ROWS] = CELLS.trim().split("\n");
const STATES = HEAD.split(/\s+/).slice(1);
const EXPECTED = ROWS.flatMap((row) => {
  const [message = "", ...cells] = row.split(/\s+/);
  return cells.map((cell, index) => [message, STATES[index] ?? "", cell] as const);
});

const later = (ms: number) => new Date(NOW.getTime() + ms);
const OLD_KEY = "aaaaaaaa-0000-7000-8000-000000000001";

const APPROVAL: SetupApproval = {
  disk_layout: "single",
  disk_width: null,
  disk_spares: null,
  disk_exclude: [],
  disk_cache: true,
  disk_compress: null,
  hostname: null,
};
const INVENTORY = {
  Disks: { c0t0d0: { "Size in GB": 600 } },
  "Network Interfaces": { net0: { "MAC Address": "02:00:00:00:00:01" } },
};

const BASE = {
  server_uuid: UUID,
  hostname: "old-name",
  role: "edge",
  admin_ip: null,
  sysinfo: INVENTORY,
  macs: ["02:00:00:00:00:01"],
  serial: null,
  announced_sysinfo: INVENTORY,
  announced_macs: ["02:00:00:00:00:01"],
  unproven: false,
  claims: [],
  bound_macs: ["02:00:00:00:00:02"],
  conflict: null,
  traits: {},
  placement: UNRESTRICTED,
  root_password_hash: "$6$kept$hash",
  setup_operation_id: null,
  bundle_taken: false,
  setup_delivery: null,
  console_listen_port: null,
  console_tls_spki_sha256_hex: null,
  underlay_address: null,
  underlay_mtu: null,
  underlay_address_set: null,
  underlay_mtu_set: null,
  registered_at: later(-1_000),
  last_setup_error: null,
  setup_progress: null,
  disk_layout: null,
  last_seen: null,
  last_status: { old: true },
  agent_version: "1.4.0",
  reservoir_enabled: null,
  reservoir_percent: null,
  registration_id: "aaaaaaaa-0000-7000-8000-000000000004",
  poll_token_sha256: "cd".repeat(32),
} as const;
const NO_KEY = { bound_api_key_id: null, pending_credential: null, ticket_keys: null } as const;
const WITH_KEY = { bound_api_key_id: OLD_KEY, pending_credential: "s1.old", ticket_keys: "s1.old" } as const;

const PENDING = {
  ...BASE,
  ...NO_KEY,
  state: "pending",
  setup_epoch: null,
  approved_at: null,
} as const;
/** A node that registered without a key and was never approved. */
const UNPROVEN: CnState = { ...PENDING, unproven: true };
const SETTING_UP: CnState = {
  ...BASE,
  ...WITH_KEY,
  state: "setting_up",
  approved_at: NOW,
  setup_epoch: EPOCH,
  setup_operation_id: "aaaaaaaa-0000-7000-8000-000000000007",
  bundle_taken: false,
  disk_layout: APPROVAL,
};
const IN: Record<string, CnState | null> = {
  absent: null,
  pending: PENDING,
  approved: { ...BASE, ...WITH_KEY, state: "approved", approved_at: NOW, setup_epoch: null },
  disabled: { ...BASE, ...WITH_KEY, state: "disabled", approved_at: NOW, setup_epoch: null },
  awaiting_setup: { ...BASE, ...NO_KEY, state: "awaiting_setup", approved_at: null, setup_epoch: null },
  setting_up: SETTING_UP,
};

const SAID = {
  server_uuid: UUID,
  hostname: "new-name",
  admin_ip: "10.0.0.9",
  sysinfo: { fresh: true },
  console_listen_port: 9_101,
  console_tls_spki_sha256_hex: "ef".repeat(32),
  underlay_address: "192.0.2.9",
  underlay_mtu: 9_000,
} as const;
const TICKET = { registration_id: "aaaaaaaa-0000-7000-8000-000000000005", poll_token_sha256: "01".repeat(32) } as const;
const CLAIM = "aaaaaaaa-0000-7000-8000-000000000008";

const MESSAGES: { [T in CnMessage["type"]]: Extract<CnMessage, { type: T }> } = {
  join: {
    type: "join",
    ...SAID,
    ...TICKET,
    key: KEY,
    operation_id: "aaaaaaaa-0000-7000-8000-000000000006",
  },
  claimed: { type: "claimed", ...SAID, macs: [], serial: null },
  last_claim_ended: { type: "last_claim_ended" },
  refresh: { type: "refresh", ...SAID, ...TICKET, proof: { poll_token_sha256: BASE.poll_token_sha256 } },
  approve: {
    type: "approve",
    claim_code: "ABC234",
    claim: { id: CLAIM, ...SAID, ...TICKET, macs: ["02:00:00:00:00:09"], serial: "TAG9" },
    key: KEY,
    operation_id: "aaaaaaaa-0000-7000-8000-000000000006",
  },
  key_used: { type: "key_used", key_id: OLD_KEY },
  key_deleted: { type: "key_deleted", key_id: OLD_KEY },
  disable: { type: "disable" },
  enable: { type: "enable" },
  set_role: { type: "set_role", role: "both" },
  set_underlay: { type: "set_underlay", underlay_address: "192.0.2.7" },
  set_reservoir: {
    type: "set_reservoir",
    reservoir_enabled: false,
    reservoir_percent: 1.5,
    defaults: { enabled: true, percent: 0.8 },
  },
  set_traits: { type: "set_traits", traits: { rack: "r1" } },
  set_placement: { type: "set_placement", patch: { cordoned: true } },
  drain: {
    type: "drain",
    operation_id: OLD_KEY,
    preview: {
      instances_on_cn: 0,
      placeable: [],
      not_placeable: [],
      capacity_ok: false,
      quorum_ok: true,
      quorum_at_risk: [],
    },
  },
  upgrade: {
    type: "upgrade",
    operation_id: "aaaaaaaa-0000-7000-8000-00000000000a",
    platform_image: "20261121T000000Z",
    reboot: "agent",
    records: [{ mac: "02:00:5e:00:53:01", assigned_pi: "20261001T000000Z" }],
    part_of: "aaaaaaaa-0000-7000-8000-00000000000b",
  },
  evacuate: {
    type: "evacuate",
    operation_id: OLD_KEY,
    preview: {
      instances_on_cn: 0,
      placeable: [],
      not_placeable: [],
      capacity_ok: false,
      quorum_ok: true,
      quorum_at_risk: [],
    },
  },
  set_root_password: { type: "set_root_password", root_password_hash: null },
  announce: {
    type: "announce",
    server_uuid: UUID,
    hostname: "announced",
    sysinfo: INVENTORY,
    policy_version: 1,
    window_needed: false,
    mac: null,
    admitted: [],
  },
  approve_setup: {
    type: "approve_setup",
    approval: APPROVAL,
    epoch: EPOCH,
    operation_id: "aaaaaaaa-0000-7000-8000-000000000007",
  },
  take_bundle: { type: "take_bundle", key: KEY },
  setup_delivered: {
    type: "setup_delivered",
    epoch: EPOCH,
    token_sha256: "ef".repeat(32),
    mac: "02:00:00:00:00:01",
    address: "10.20.0.10",
  },
  hand_over_bundle: { type: "hand_over_bundle", epoch: EPOCH, token_sha256: "ef".repeat(32) },
  setup_progressed: { type: "setup_progressed", epoch: EPOCH, step: "pool", message: null, percent: 10 },
  setup_completed: { type: "setup_completed", epoch: EPOCH, enrollment_pi: "stamp", admin_ip: null },
  setup_failed: { type: "setup_failed", epoch: EPOCH, reason: "no disks" },
  revert_setup: { type: "revert_setup", epoch: EPOCH, reason: "abandoned" },
  factory_reset: { type: "factory_reset" },
  remove: { type: "remove" },
  tick: { type: "tick" },
};

type Go = Extract<Out<CnState>, { out: "go" }>;

function step(state: CnState | null, message: CnMessage, now = NOW): Out<CnState> {
  return cn.step(state, message, now);
}

function going(state: CnState | null, message: CnMessage): Go {
  const out = step(state, message);
  if (out.out !== "go") throw new Error(`expected a transition, got ${JSON.stringify(out)}`);
  return out;
}

function word(out: Out<CnState>): string {
  if (out.out === "ignore") return "ignore";
  if (out.out === "go") return `go:${out.next?.state ?? "gone"}`;
  return out.fault.kind === "not_found" ? "404" : "409";
}

test("CELLS lists exactly the cells of the transition table", () => {
  const cells = Object.entries(cnTable).flatMap(([message, row]) => Object.keys(row).map((s) => `${message}/${s}`));
  expect(EXPECTED.map(([message, state]) => `${message}/${state}`).sort()).toEqual(cells.sort());
});

test.each(EXPECTED)("the message %s in the state %s has the result %s", (message, state, expected) => {
  expect(word(step(IN[state] ?? null, MESSAGES[message as CnMessage["type"]]))).toBe(expected);
});

describe("approve", () => {
  test("copies the claim's fields and poll token to the node, stores a new key, and adds an audit event", () => {
    const { next, parts } = going(PENDING, MESSAGES.approve);
    expect(next).toMatchObject({
      ...SAID,
      ...TICKET,
      macs: ["02:00:00:00:00:09"],
      serial: "TAG9",
      bound_api_key_id: KEY.id,
      pending_credential: KEY.sealed,
      ticket_keys: KEY.sealed_tickets,
      approved_at: NOW,
      role: "edge",
    });
    expect(parts).toContainEqual({
      part: "with",
      to: { kind: "enrolment-claim", id: CLAIM },
      message: { type: "approve", claim_code: "ABC234" },
    });
    expect(parts).toContainEqual(expect.objectContaining({
      part: "with",
      to: { kind: "api-key", id: KEY.id },
      message: expect.objectContaining({ scope: "agent", bound_to_cn: UUID, description: `agent: cn ${UUID}` }),
    }));
    expect(parts.find((part) => part.part === "audit")).toMatchObject({ action: "cn_approve" });
  });

  test.each(["approved", "pending"])(
    "ends the other claims of a node that is %s, and revokes the node's previous key",
    (state) => {
      const { parts } = going({ ...IN[state]!, ...WITH_KEY, state } as CnState, MESSAGES.approve);
      expect(parts).toContainEqual(expect.objectContaining({
        part: "effect",
        name: "end_claims",
        args: expect.objectContaining({ server_uuid: UUID, except: CLAIM }),
      }));
      expect(parts).toContainEqual({ part: "with", to: { kind: "api-key", id: OLD_KEY }, message: { type: "revoke" } });
    },
  );
});

describe("a claim", () => {
  test("for an unknown server_uuid creates an unproven record and takes 1 from the budget for unproven nodes", () => {
    const { next, parts } = going(null, MESSAGES.claimed);
    expect(next).toMatchObject({ state: "pending", unproven: true, role: "tenant", hostname: "new-name", ...NO_KEY });
    expect(parts).toContainEqual(expect.objectContaining({ part: "take", budget: "unproven-nodes", amount: 1 }));
  });

  test("for a disabled node changes only the node's state, to pending", () => {
    expect(going(IN["disabled"] ?? null, MESSAGES.claimed).next).toEqual({ ...IN["disabled"], state: "pending" });
  });

  test("whose end leaves the node without claims removes an unproven node, and disables any other node", () => {
    expect(going(UNPROVEN, MESSAGES.last_claim_ended).next).toBeNull();
    expect(going(PENDING, MESSAGES.last_claim_ended).next).toMatchObject({ ...PENDING, state: "disabled" });
  });
});

describe("join", () => {
  test("a new node uses up one approval of the auto-approve window", () => {
    const { parts } = going(null, MESSAGES.join);
    expect(parts).toContainEqual(expect.objectContaining({ part: "take", budget: "auto-approve", amount: 1 }));
  });
});

describe("refresh", () => {
  test.each([["approved", "new-name"], ["awaiting_setup", "old-name"], ["setting_up", "old-name"]])(
    "from a node that is %s replaces its sysinfo, keeps the inventory from the booter, and results in the hostname %s",
    (state, hostname) => {
      const before = IN[state];
      const { next } = going(before ?? null, MESSAGES.refresh);
      expect(next).toMatchObject({
        state,
        hostname,
        sysinfo: { fresh: true },
        announced_sysinfo: INVENTORY,
        announced_macs: BASE.announced_macs,
        last_seen: NOW,
        poll_token_sha256: BASE.poll_token_sha256,
        bound_api_key_id: before?.bound_api_key_id,
      });
    },
  );

  test.each([{ key_id: "another" }, { poll_token_sha256: "ff".repeat(32) }])(
    "with the credential of another node is refused with 409: %j",
    (proof) => {
      for (const state of ["approved", "awaiting_setup", "setting_up"]) {
        expect(word(step(IN[state] ?? null, { ...MESSAGES.refresh, proof }))).toBe("409");
      }
    },
  );
});

describe("setup", () => {
  const EXPIRED = "cn setup exceeded its deadline without reporting complete/failed; reverted by reconciler";

  test("a tick 45 minutes after the start of a setup changes nothing; a tick one millisecond later reverts the setup", () => {
    expect(step(SETTING_UP, MESSAGES.tick, later(2_700_000))).toEqual({ out: "ignore" });
    const out = step(SETTING_UP, MESSAGES.tick, later(2_700_001));
    expect(out).toMatchObject({ next: { state: "awaiting_setup", last_setup_error: EXPIRED, bound_api_key_id: null } });
    expect(cn.deadline(SETTING_UP)).toEqual(later(2_700_001));
  });

  test.each(["setup_progressed", "setup_completed", "setup_failed"] as const)(
    "%s with the epoch of an older or newer setup run is refused",
    (type) => {
      for (const epoch of [EPOCH - 1, EPOCH + 1]) {
        expect(step(SETTING_UP, { ...MESSAGES[type], epoch })).toMatchObject({
          out: "refuse",
          fault: { kind: "conflict" },
        });
      }
    },
  );

  test("abandoning the operation of an older setup run does not revert the current run", () => {
    expect(step(SETTING_UP, { ...MESSAGES.revert_setup, epoch: EPOCH - 1 })).toEqual({ out: "ignore" });
  });

  test("a second take_bundle in one setup run is refused", () => {
    const { next } = going(SETTING_UP, MESSAGES.take_bundle);
    expect(step(next, MESSAGES.take_bundle)).toMatchObject({ out: "refuse", fault: { kind: "conflict" } });
  });

  test("an announce with the node's server_uuid but other network ports records a conflict and changes nothing else", () => {
    const sysinfo = { "Network Interfaces": { net0: { "MAC Address": "02:00:00:00:00:99" } } };
    const { next } = going(IN["awaiting_setup"] ?? null, { ...MESSAGES.announce, sysinfo });
    expect(next).toEqual({
      ...IN["awaiting_setup"],
      conflict: expect.objectContaining({ macs: ["02:00:00:00:00:99"] }),
    });
  });
});

test("a factory reset clears the fields of the previous setup run and keeps the hash of the root password", () => {
  const { next, parts } = going(IN["approved"] ?? null, MESSAGES.factory_reset);
  expect(next).toMatchObject({
    ...NO_KEY,
    approved_at: null,
    disk_layout: null,
    setup_progress: null,
    last_setup_error: "factory reset by operator",
    root_password_hash: "$6$kept$hash",
  });
  expect(parts).toContainEqual({ part: "with", to: { kind: "api-key", id: OLD_KEY }, message: { type: "revoke" } });
});

test("enable approves a disabled node again if the node has a key, and is refused if it has none", () => {
  const disabled = IN["disabled"]!;
  const { next, parts } = going(disabled, MESSAGES.enable);
  expect(next).toEqual({ ...disabled, state: "approved" });
  expect(parts).toEqual([expect.objectContaining({ action: "cn_enable" })]);
  expect(step({ ...disabled, bound_api_key_id: null } as CnState, MESSAGES.enable)).toMatchObject({
    fault: { kind: "conflict", message: expect.stringContaining("opsctl cn approve") },
  });
});

test("disable ends the node's claims and erases the stored copy of its key; the key itself stays valid", () => {
  const { next, parts } = going(UNPROVEN, MESSAGES.disable);
  expect(next).toMatchObject({ state: "disabled", unproven: false });
  expect(parts).toContainEqual(expect.objectContaining({ part: "effect", name: "end_claims" }));
  expect(going(IN["approved"] ?? null, MESSAGES.disable).next).toMatchObject({
    pending_credential: null,
    bound_api_key_id: OLD_KEY,
  });
});

test.each(["awaiting_setup", "setting_up"])(
  "disabling a node that is %s is refused with a message that names the state",
  (state) => {
    expect(step(IN[state] ?? null, MESSAGES.disable)).toMatchObject({
      fault: { message: `cn is ${state}; only an approved or pending node can be disabled` },
    });
  },
);

test("remove of an approved or setting_up node is refused with a message that names the required first step", () => {
  expect(step(IN["approved"] ?? null, MESSAGES.remove)).toMatchObject({
    fault: { message: "cn is approved; disable it before removing" },
  });
  expect(step(IN["setting_up"] ?? null, MESSAGES.remove)).toMatchObject({
    fault: { message: "cn is setting_up; wait for setup to finish or fail before removing" },
  });
});

test("remove takes the node's exclusive lock, checks three guards in order, and revokes the node's key", () => {
  const { parts } = going(IN["disabled"] ?? null, MESSAGES.remove);
  expect(parts[0]).toMatchObject({ part: "lock", key: `cn:${UUID}`, shared: false });
  expect(parts.flatMap((part) => part.part === "guard" ? [part.fault.message] : [])).toEqual([
    "instances are still placed on this node; delete or migrate them first",
    "a placement reservation is in flight for this node",
    "a migration involving this node is in flight; wait for it to finish or abort it",
  ]);
  expect(parts).toContainEqual({ part: "with", to: { kind: "api-key", id: OLD_KEY }, message: { type: "revoke" } });
});

test("key_used of the node's key erases the pending credential once, and key_used of another key is ignored", () => {
  const approved = IN["approved"] ?? null;
  expect(step(approved, { type: "key_used", key_id: KEY.id })).toEqual({ out: "ignore" });
  const { next } = going(approved, MESSAGES.key_used);
  expect(next).toMatchObject({ pending_credential: null, bound_api_key_id: OLD_KEY });
  expect(step(next, MESSAGES.key_used)).toEqual({ out: "ignore" });
});

test("set_reservoir replaces the whole override, and accepts a reservoir_percent above 1", () => {
  const set = going(PENDING, MESSAGES.set_reservoir);
  expect(set.parts.find((part) => part.part === "reply")).toMatchObject({
    reply: { reservoir_percent: 1.5, effective_enabled: false, effective_percent: 1.5 },
  });
  const cleared = going(PENDING, { ...MESSAGES.set_reservoir, reservoir_enabled: null, reservoir_percent: null });
  expect(cleared.parts.find((part) => part.part === "reply")).toMatchObject({
    reply: { effective_enabled: true, effective_percent: 0.8 },
  });
});
