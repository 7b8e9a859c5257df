// Checks and applies the conditions of a choice (actors/engine/store.ts), for the store in memory. All conditions are
// checked before any takes effect.
import type { CallCondition, EffectArgs, EffectName, GuardArgs, GuardName } from "../../actors/engine/conditions.ts";
import type { MemoryTables } from "./memory-rows.ts";
import { CommitError } from "../../actors/engine/store.ts";
import type { Fault, Json } from "../../actors/engine/types.ts";

/** The clock, and the guards and effects, which are SQL functions in the real database. */
export type MemoryRules = {
  readonly now: () => Date;
  readonly guards?: { readonly [N in GuardName]?: (args: GuardArgs<N>, tables: MemoryTables) => boolean | string };
  /** Guards that only tests define. */
  readonly testGuards?: Readonly<Record<string, (args: Json, tables: MemoryTables) => boolean>>;
  /** Each effect returns the function that undoes it. */
  readonly effects?: { readonly [N in EffectName]?: (args: EffectArgs<N>, tables: MemoryTables) => () => void };
};

type Checked = { readonly fault: Fault } | { readonly values: ReadonlyMap<string, string> };

/**
 * Returns a function that checks conditions and applies their effects. That function returns the fault of the first
 * condition that does not hold, or the allocated values. It throws a CommitError if a constraint refuses a condition.
 */
export function createConditions(
  rules: MemoryRules,
  tables: MemoryTables,
): (conditions: readonly CallCondition[], undo: (() => void)[]) => Checked {
  function spend(name: string, by: number, undo: (() => void)[]): void {
    const budget = tables.budgets.get(name);
    if (budget === undefined || budget.remaining === null) return;
    budget.remaining += by;
    undo.push(() => {
      if (budget.remaining !== null) budget.remaining -= by;
    });
  }

  function allocate(from: Extract<CallCondition, { do: "allocate" }>, undo: (() => void)[]): string {
    const free = tables.pools.get(from.pool) ?? [];
    const at = free.findIndex((spot) => isWithin(spot, from));
    if (at === -1) throw new CommitError("constraint", "pool_exhausted");
    const [value] = free.splice(at, 1);
    undo.push(() => free.splice(at, 0, value!));
    return String(value);
  }

  function releaseValue(pool: string, value: number, undo: (() => void)[]): void {
    const free = tables.pools.get(pool);
    if (free === undefined) throw new Error(`unknown pool ${pool}`);
    if (free.includes(value)) throw new CommitError("constraint", "pool_value_free_already");
    const before = [...free];
    free.push(value);
    free.sort((a, b) => a - b);
    undo.push(() => free.splice(0, free.length, ...before));
  }

  const guards = { ...rules.guards, ...rules.testGuards } as Readonly<
    Record<string, (args: Json, tables: MemoryTables) => boolean | string>
  >;
  const effects = { ...rules.effects } as Readonly<Record<string, (args: Json, tables: MemoryTables) => () => void>>;

  return function check(conditions, undo) {
    for (const each of conditions) {
      if (each.do === "guard") {
        const guard = guards[each.name];
        if (guard === undefined) throw new Error(`unknown guard ${each.name}`);
        const verdict = guard(each.args, tables);
        if (typeof verdict === "string" && verdict !== "true") {
          return { fault: { ...each.fault, message: each.fault.message.replaceAll("<WHAT>", verdict) } };
        }
        if (verdict === false) return { fault: each.fault };
      }
      if (each.do === "take") {
        const budget = tables.budgets.get(each.budget);
        const enough = budget !== undefined && (budget.remaining === null || budget.remaining >= each.amount);
        if (!enough || (budget.expires_at !== null && budget.expires_at <= rules.now())) return { fault: each.fault };
      }
      if (each.do === "allocate" && !tables.pools.get(each.pool)?.some((spot) => isWithin(spot, each))) {
        return { fault: each.fault };
      }
    }
    const values = new Map<string, string>();
    for (const each of conditions) {
      if (each.do === "take") spend(each.budget, -each.amount, undo);
      if (each.do === "give") spend(each.budget, each.amount, undo);
      if (each.do === "allocate") values.set(each.token, allocate(each, undo));
      if (each.do === "effect") {
        const run = effects[each.name];
        if (run === undefined) throw new Error(`unknown effect ${each.name}`);
        undo.push(run(each.args, tables));
      }
      if (each.do === "release") releaseValue(each.pool, Number(each.value), undo);
    }
    return { values };
  };
}

function isWithin(spot: number, { low, high }: { readonly low?: number; readonly high?: number }): boolean {
  return (low === undefined || spot >= low) && (high === undefined || spot <= high);
}
