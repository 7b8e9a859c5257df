// Runs every cell of the boot record's transition table (docs/booting.md, "Boot records").
import { expect, test } from "vitest";
import type { BootRecordMessage } from "../../actors/boot-record/messages.ts";
import type { BootRecordState } from "../../actors/boot-record/state.ts";
import { bootRecord, bootRecordTable } from "../../actors/boot-record/transition.ts";
import type { Out } from "../../actors/engine/types.ts";

// "same" means that the record does not change. A text with spaces is the message of a 409.
const EXPECTED: Record<string, Record<string, string>> = {
  seen: { absent: "enrolling", discovered: "same", enrolling: "same", enrolled: "same", decommissioned: "same" },
  authorize: {
    absent: "enrolling",
    discovered: "enrolling",
    enrolling: "same",
    enrolled: "boot record is enrolled already",
    decommissioned: "boot record is decommissioned; reactivate it first",
  },
  reactivate: {
    absent: "404",
    discovered: "same",
    enrolling: "boot record is enrolling; only a decommissioned record can be reactivated",
    enrolled: "boot record is enrolled; only a decommissioned record can be reactivated",
    decommissioned: "discovered",
  },
  admit: { absent: "same", discovered: "enrolling", enrolling: "same", enrolled: "same", decommissioned: "same" },
  rescue: {
    absent: "404",
    discovered: "discovered",
    enrolling: "enrolling",
    enrolled: "enrolled",
    decommissioned: "decommissioned",
  },
  assign: {
    absent: "404",
    discovered: "discovered",
    enrolling: "enrolling",
    enrolled: "enrolled",
    decommissioned: "decommissioned",
  },
  set_arguments: {
    absent: "404",
    discovered: "discovered",
    enrolling: "enrolling",
    enrolled: "enrolled",
    decommissioned: "decommissioned",
  },
  decommission: {
    absent: "404",
    discovered: "decommissioned",
    enrolling: "decommissioned",
    enrolled: "decommissioned",
    decommissioned: "same",
  },
  converge: {
    absent: "404",
    discovered: "discovered",
    enrolling: "enrolling",
    enrolled: "enrolled",
    decommissioned: "decommissioned",
  },
  enroll: { absent: "same", discovered: "same", enrolling: "enrolled", enrolled: "same", decommissioned: "same" },
  rearm: { absent: "same", discovered: "same", enrolling: "same", enrolled: "enrolling", decommissioned: "same" },
  retire: {
    absent: "same",
    discovered: "decommissioned",
    enrolling: "decommissioned",
    enrolled: "decommissioned",
    decommissioned: "same",
  },
};

const NOW = new Date("2026-03-01T12:00:00.000Z");
const MAC = "02:00:00:00:00:01";
const UUID = "11111111-2222-4333-8444-555555555555";
const OTHER = "99999999-2222-4333-8444-555555555555";
const TOKEN = "address:token";

const BASE = {
  mac: MAC,
  provenance: { source: "booter", first_seen_at: NOW.toISOString(), first_seen_by: "key" },
  rescue: false,
  hostname: null,
  kernel_args: [],
  console: null,
  created_at: NOW,
  updated_at: NOW,
} as const;
const NETWORKING = {
  address: "10.0.0.5",
  prefix_len: 24,
  gateway: null,
  resolvers: [],
  hostname: null,
  nic_tags: [],
};
const HELD = { address: "10.0.0.5", networking: NETWORKING };
const NO_ADDRESS = { address: null, networking: null } as const;
const FREE = { server_uuid: null, assigned_pi: null } as const;
const BOUND = { server_uuid: UUID, assigned_pi: "pi-1" };
const IN: Record<string, BootRecordState | null> = {
  absent: null,
  discovered: { ...BASE, ...NO_ADDRESS, ...FREE, state: "discovered" },
  enrolling: { ...BASE, ...HELD, ...FREE, state: "enrolling" },
  enrolled: { ...BASE, ...HELD, ...BOUND, state: "enrolled" },
  decommissioned: { ...BASE, ...HELD, ...BOUND, state: "decommissioned" },
};

const LOOKED_UP = {
  mac: MAC,
  by: "key",
  policy_version: 1,
  segment: { prefix_len: 24, gateway: null, resolvers: [] },
  declared: { hostname: null, nic_tags: [] },
  address_token: TOKEN,
};
const MESSAGES: { [T in BootRecordMessage["type"]]: Extract<BootRecordMessage, { type: T }> } = {
  seen: { type: "seen", enroll: true, ...LOOKED_UP },
  authorize: { type: "authorize", ...LOOKED_UP },
  reactivate: { type: "reactivate" },
  admit: { type: "admit", ...LOOKED_UP },
  rescue: { type: "rescue", on: true, ...LOOKED_UP },
  assign: { type: "assign", platform_image: "pi-2" },
  set_arguments: {
    type: "set_arguments",
    boot_arguments: { kernel_args: ["-v"], console: { port: "ttyb", speed: 9_600 } },
  },
  decommission: { type: "decommission" },
  converge: { type: "converge", declared: { hostname: "h", nic_tags: ["t"] } },
  enroll: { type: "enroll", server_uuid: UUID, enrollment_pi: "pi-1" },
  rearm: { type: "rearm", server_uuid: UUID },
  retire: { type: "retire", server_uuid: UUID },
};

const step = (state: BootRecordState | null, message: BootRecordMessage) => bootRecord.step(state, message, NOW);

function describeOut(out: Out<BootRecordState>): string {
  if (out.out === "ignore") return "same";
  if (out.out === "go") return out.next?.state ?? "gone";
  return out.fault.kind === "not_found" ? "404" : out.fault.message;
}
const nextOf = (out: Out<BootRecordState>) => (out.out === "go" ? out.next : null);

const CELLS = Object.entries(EXPECTED).flatMap(([message, row]) =>
  Object.entries(row).map(([state, expected]) => [message, state, expected] as const)
);

test("EXPECTED has exactly the cells of the transition table", () => {
  const cells = Object.entries(bootRecordTable).flatMap(([type, row]) => Object.keys(row).map((s) => `${type}/${s}`));
  expect(CELLS.map(([message, state]) => `${message}/${state}`).sort()).toEqual(cells.sort());
});

test.each(CELLS)("the message %s to a record that is %s has the result: %s", (message, state, expected) => {
  expect(describeOut(step(IN[state] ?? null, MESSAGES[message as BootRecordMessage["type"]]))).toBe(expected);
});

test.each(["enroll", "rearm", "retire"] as const)(
  "%s does not change a record that is bound to another server",
  (type) => {
    const message = { ...MESSAGES[type], server_uuid: OTHER };
    const bound: BootRecordState = { ...BASE, ...HELD, server_uuid: UUID, assigned_pi: null, state: "enrolling" };
    for (const state of [bound, IN["enrolled"] ?? null]) expect(step(state, message)).toEqual({ out: "ignore" });
  },
);

test("an enrolment uses the policy's image if the record has no assigned image, and is refused without any image", () => {
  const enrolling = IN["enrolling"] as BootRecordState;
  const without = { ...MESSAGES.enroll, enrollment_pi: null };
  const assigned: BootRecordState = { ...BASE, ...HELD, server_uuid: null, assigned_pi: "own", state: "enrolling" };
  expect(nextOf(step(enrolling, MESSAGES.enroll))).toMatchObject({ assigned_pi: "pi-1", server_uuid: UUID });
  expect(nextOf(step(assigned, MESSAGES.enroll))).toMatchObject({ assigned_pi: "own" });
  expect(nextOf(step(assigned, without))).toMatchObject({ assigned_pi: "own" });
  expect(describeOut(step(enrolling, without))).toBe(
    "the boot record has no image: no operator assigned one, and the boot policy names no enrollment_pi",
  );
});

test.each([["rearm"], ["retire"], ["decommission"]] as const)(
  "%s of an enrolled record clears the assigned image and keeps address, networking, provenance and binding",
  (type) => {
    const enrolled = IN["enrolled"] as BootRecordState;
    const state = type === "rearm" ? "enrolling" : "decommissioned";
    expect(nextOf(step(enrolled, MESSAGES[type]))).toEqual({ ...enrolled, state, assigned_pi: null });
  },
);

test("a record allocates an address only if the record has no address", () => {
  const allocates = (out: Out<BootRecordState>) =>
    out.out === "go" && out.parts.some((part) => part.part === "allocate");
  expect(allocates(step(null, MESSAGES.seen))).toBe(true);
  expect(allocates(step(IN["discovered"] ?? null, MESSAGES.authorize))).toBe(true);
  const again: BootRecordState = { ...BASE, ...HELD, ...FREE, state: "discovered" };
  expect(allocates(step(again, MESSAGES.authorize))).toBe(false);
  expect(allocates(step(null, { ...MESSAGES.seen, enroll: false }))).toBe(false);
  for (const type of ["admit", "rescue"] as const) {
    expect(allocates(step(IN["discovered"] ?? null, MESSAGES[type]))).toBe(true);
    expect(allocates(step(again, MESSAGES[type]))).toBe(false);
  }
});
