// What all processes of a run share: virtual time, one database, the journal, and the plan with its chances.
import type { MemoryTables } from "../../actors/engine/memory-rows.ts";
import { createMemoryStore, type MemoryStore } from "../../actors/engine/memory-store.ts";
import type { AnyBehavior } from "../../actors/engine/types.ts";
import { behaviors as production, sagas } from "../../actors/registry.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import { chance, pick } from "./chance.ts";
import type { Counters } from "./counters.ts";
import { errand } from "./errand.ts";
import { createJournal, type Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

export type World = {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly database: MemoryStore;
  readonly journal: Journal;
  readonly counters: Counters;
  /** Nodes on which something is placed. */
  readonly placed: Set<string>;
  /** How often each call, tell or command has been tried: makes repeated draws differ. */
  readonly tries: Map<string, number>;
  /** Faults stop, so that everything can come to rest. */
  quiet: boolean;
};

/** 2026-01-01T00:00:00Z; any moment would do. */
export const START_MS = 1_767_225_600_000;

const known = [...sagas, errand];

/** The production behaviors, with the simulator's saga among the known ones. */
export const behaviors: readonly AnyBehavior[] = [
  ...production.filter((behavior) => behavior.kind !== "saga"),
  sagaBehavior(known),
];

export function knowsSaga(name: string): boolean {
  return known.some((each) => each.name === name);
}

export function createWorld(plan: Plan, counters: Counters): World {
  const scheduler = createScheduler(START_MS);
  const journal = createJournal(scheduler.now_ms);
  const placed = new Set<string>();
  const database: MemoryStore = createMemoryStore({
    now: scheduler.now,
    kinds: behaviors,
    // The UNIQUE rules of the migrations.
    unique: [
      { name: "cn_claim_code", table: "cn", columns: ["claim_code"] },
      { name: "cn_poll_token", table: "cn", columns: ["poll_token_sha256"] },
    ],
    guards: {
      no_instance_on_cn: (args) => !placed.has((args as { server_uuid: string }).server_uuid),
      no_reservation_on_cn: () => true,
      no_migration_of_cn: () => true,
      // Nodes of the simulator work on whatever becomes of them.
      cn_is_approved: () => true,
    },
    joined: { cn: CN_JOINED, site: SITE_JOINED },
    onApplied: (written) => journal.applied(database.tables, written),
  });
  return { plan, scheduler, database, journal, counters, placed, tries: new Map(), quiet: false };
}

/** View cn_loaded. */
const CN_JOINED = {
  columns: ["last_seen", "last_status", "reservoir_enabled", "reservoir_percent"],
  from: (row: Readonly<Record<string, unknown>>, tables: MemoryTables) => {
    const of = (table: string) =>
      tables.children.get(table)?.find((each) => each["server_uuid"] === row["server_uuid"]);
    const [signal, placement] = [of("cn_signal"), of("cn_placement")];
    return {
      last_seen: signal?.["last_seen"] ?? null,
      last_status: signal?.["last_status"] ?? null,
      reservoir_enabled: placement?.["reservoir_enabled"] ?? null,
      reservoir_percent: placement?.["reservoir_percent"] ?? null,
    };
  },
};

/** View site_loaded. */
const SITE_JOINED = {
  columns: ["window_remaining"],
  from: (_row: unknown, tables: MemoryTables) => ({
    window_remaining: tables.budgets.get("auto-approve")?.remaining ?? null,
  }),
};

/** Uniform in [0, 1), the same for the same purpose and the same number of earlier draws for it. */
export function draw(world: World, purpose: string): number {
  const count = (world.tries.get(purpose) ?? 0) + 1;
  world.tries.set(purpose, count);
  return chance(world.plan.seed, `${purpose}#${count}`);
}

/** A whole number in [0, below) for this purpose, always the same. */
export function choose(world: World, purpose: string, below: number): number {
  return pick(world.plan.seed, purpose, below);
}

/** Resolves with `value` after this many virtual milliseconds. */
export function later<T>(world: World, ms: number, value: T): Promise<T> {
  return new Promise((resolve) => world.scheduler.after(ms, () => resolve(value)));
}
