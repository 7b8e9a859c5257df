// Creates the environment that all processes of a run share: virtual time, one database, the journal and the plan.
import type { MemoryTables } from "../support/memory-rows.ts";
import { createMemoryStore, type MemoryStore } from "../support/memory-store.ts";
import type { ActorState, AnyBehavior, Out } from "../../actors/engine/types.ts";
import { behaviors as production, sagas } from "../../actors/registry.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import { chance, pick } from "./chance.ts";
import type { Counters } from "./counters.ts";
import { lamp } from "../engine/probe.ts";
import { errand, errandLamp } from "./errand.ts";
import { createJournal, type Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

export type Environment = {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly database: MemoryStore;
  readonly journal: Journal;
  readonly counters: Counters;
  /** The UUIDs of nodes on which an instance is placed. */
  readonly placed: Set<string>;
  /**
   * The number of draws so far for each purpose, and of deliveries so far of each tell. A draw depends on this number,
   * so repeated draws of one purpose differ.
   */
  readonly tries: Map<string, number>;
  /** True in the last part of a run, in which no faults occur and everything must end. */
  quiet: boolean;
};

/** 2026-01-01T00:00:00Z, an arbitrary moment. */
export const START_MS = 1_767_225_600_000;

const known = [...sagas, errand];

/**
 * The production behaviors, the lamp of the engine tests, and the errands' lamp. The saga behavior also knows the
 * simulator's own saga.
 */
export const behaviors: readonly AnyBehavior[] = [
  ...production.filter((behavior) => behavior.kind !== "saga"),
  sagaBehavior(known),
  lamp,
  errandLamp,
];

/**
 * The behaviors of an earlier release. In that release, a receiver's decision never joins the commit of the sender (see
 * Tell).
 */
export const earlierBehaviors: readonly AnyBehavior[] = behaviors.map((behavior) => ({
  ...behavior,
  step: (state, message, now) => withoutJoining(behavior.step(state, message, now)),
}));

function withoutJoining(out: Out<ActorState>): Out<ActorState> {
  if (out.out !== "go") return out;
  return { ...out, parts: out.parts.map((part) => part.part === "tell" ? { ...part, joins: false } : part) };
}

export function knowsSaga(name: string): boolean {
  return known.some((each) => each.name === name);
}

export function createEnvironment(plan: Plan, counters: Counters): Environment {
  const scheduler = createScheduler(START_MS);
  const journal = createJournal(scheduler.now_ms);
  const placed = new Set<string>();
  /** The ids of the claims that an effect of the current call ended. */
  const ended = new Set<string>();
  const database: MemoryStore = createMemoryStore({
    now: scheduler.now,
    kinds: behaviors,
    // UNIQUE constraints, as in the migrations.
    unique: [
      { name: "enrolment_claim_code", table: "enrolment_claim", columns: ["claim_code"] },
      { name: "enrolment_claim_poll_token", table: "enrolment_claim", columns: ["poll_token_sha256"] },
      { name: "cn_poll_token", table: "cn", columns: ["poll_token_sha256"] },
    ],
    guards: {
      no_instance_on_cn: (args) => !placed.has(args.server_uuid),
      no_reservation_on_cn: () => true,
      no_migration_of_cn: () => true,
      claims_are_counted: (args, tables) => {
        const { source_bucket } = args;
        for (const name of ["claims", `claims-from:${source_bucket}`]) tables.budgets.set(name, UNLIMITED);
        return true;
      },
      unproven_are_counted: (_args, tables) => {
        tables.budgets.set("unproven-nodes", UNLIMITED);
        return true;
      },
      node_has_room_for_claim: (args, tables) => {
        const { server_uuid, max } = args;
        return liveClaimsOf(tables, server_uuid, scheduler.now()).length < max;
      },
      is_last_claim: (args, tables) => {
        const { server_uuid, id } = args;
        return claimsOf(tables, server_uuid).every((claim) => claim.id === id);
      },
      // In the simulator, a node works on jobs whatever the node's state is.
      cn_is_approved: () => true,
    },
    testGuards: { lamp_allows: (args) => (args as { readonly allow: boolean }).allow },
    effects: {
      // The budgets are unlimited here.
      claim_ended: () => () => {},
      unproven_ended: () => () => {},
      end_claims: (args, tables) => {
        const { server_uuid, except } = args;
        const gone = claimsOf(tables, server_uuid).filter(({ id }) => id !== except);
        gone.forEach(({ key, id }) => {
          tables.actors.delete(key);
          ended.add(id);
        });
        return () =>
          gone.forEach(({ key, id, row }) => {
            tables.actors.set(key, row);
            ended.delete(id);
          });
      },
    },
    joined: { cn: joinedOf(scheduler.now), site: SITE_JOINED },
    onApplied: (written) => {
      const claims = [...ended].map((id) => ({ kind: "enrolment-claim", id }));
      ended.clear();
      journal.applied(database.tables, [...written, ...claims]);
    },
  });
  database.tables.budgets.set("current", { remaining: CURRENT, expires_at: null });
  database.tables.pools.set("sockets", Array.from({ length: SOCKETS }, (_, index) => index + 1));
  return { plan, scheduler, database, journal, counters, placed, tries: new Map(), quiet: false };
}

/** The initial amount of the budget `current`, which all lamps share. It is so small that some `draw` messages fail. */
export const CURRENT = 6;
/** The size of the pool `sockets`: more than a run allocates. */
const SOCKETS = 1_000;

const UNLIMITED = { remaining: null, expires_at: null };

/** Returns the claims of a node, including expired claims. */
function claimsOf(tables: MemoryTables, server_uuid: unknown) {
  return [...tables.actors].flatMap(([key, row]) =>
    key.startsWith("enrolment-claim:") && row.state?.["server_uuid"] === server_uuid
      ? [{ key, id: key.slice("enrolment-claim:".length), row }]
      : []
  );
}

function liveClaimsOf(tables: MemoryTables, server_uuid: unknown, now: Date) {
  return claimsOf(tables, server_uuid).map(({ row }) => row.state ?? {})
    .filter((claim) => (claim["expires_at"] as Date) > now)
    .sort((a, b) => (a["expires_at"] as Date).getTime() - (b["expires_at"] as Date).getTime());
}

/** The columns that the view cn_loaded adds to a node's row. */
const joinedOf = (now: () => Date) => ({
  columns: ["last_seen", "last_status", "reservoir_enabled", "reservoir_percent", "claims"],
  from: (row: Readonly<Record<string, unknown>>, tables: MemoryTables) => {
    const of = (table: string) =>
      tables.children.get(table)?.find((each) => each["server_uuid"] === row["server_uuid"]);
    const [signal, placement] = [of("cn_signal"), of("cn_placement")];
    return {
      last_seen: signal?.["last_seen"] ?? null,
      last_status: signal?.["last_status"] ?? null,
      reservoir_enabled: placement?.["reservoir_enabled"] ?? null,
      reservoir_percent: placement?.["reservoir_percent"] ?? null,
      claims: liveClaimsOf(tables, row["server_uuid"], now()),
    };
  },
});

/** The columns that the view site_loaded adds to the site's row. */
const SITE_JOINED = {
  columns: ["window_remaining"],
  from: (_row: unknown, tables: MemoryTables) => ({
    window_remaining: tables.budgets.get("auto-approve")?.remaining ?? null,
  }),
};

/**
 * Draws a number in [0, 1), which depends only on the seed, the purpose and the number of earlier draws for this
 * purpose.
 */
export function draw(environment: Environment, purpose: string): number {
  const count = (environment.tries.get(purpose) ?? 0) + 1;
  environment.tries.set(purpose, count);
  return chance(environment.plan.seed, `${purpose}#${count}`);
}

/** Returns a whole number in [0, below) that depends only on the seed and the purpose. */
export function choose(environment: Environment, purpose: string, below: number): number {
  return pick(environment.plan.seed, purpose, below);
}

/** Resolves with `value` after this many virtual milliseconds. */
export function later<T>(environment: Environment, ms: number, value: T): Promise<T> {
  return new Promise((resolve) => environment.scheduler.after(ms, () => resolve(value)));
}
