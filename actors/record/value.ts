// A value is a kind whose row is always written as a whole: one message writes the row, and another message can remove
// it. For example, quotas, the identity provider of a tenant and settings are values. The transition table is total, as
// in record.ts.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import type { Fault } from "../../src/contract/fault.ts";
import { audit, go, refuse } from "../engine/effects.ts";
import { type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Json, Message, Out, Part } from "../engine/types.ts";

export type ValueState<Columns> = Columns & { readonly state: "set" };

/** Writes the whole row. */
export type SetValue<Fields> = { readonly type: "set" } & Fields;
/** Removes the row. */
export type UnsetValue = { readonly type: "unset" };

/** The audit entry of a change. Its resource is the owner of the value. */
type Change<S> = { readonly action: AuditAction; readonly note: (row: S) => Json };

/** The description of one kind of value. */
export type ValueDescription<S extends ValueState<unknown>, M extends Message> =
  & {
    readonly kind: string;
    readonly table: string;
    readonly key: string;
    /** The resource in audit entries: `Tenant::"<id>"`. */
    readonly resource: (row: S) => string;
    readonly set: Change<S> & {
      /** Returns the columns of the row. `before` is the replaced row. */
      readonly row: (message: Of<M, "set">, now: Date, before: S | null) => Omit<S, "state">;
      /** Returns why the row is not written. `before` is the row that the message would replace. */
      readonly refusal?: (message: Of<M, "set">, before: S | null) => Fault | null;
      readonly parts?: (row: S) => readonly Part<S>[];
    };
    readonly view: (row: S) => Json;
    readonly constraints?: Readonly<Record<string, Fault>>;
  }
  & ("unset" extends M["type"] ? {
      readonly unset: Change<S> & {
        /** The cell of an absent row: a 404, or no effect. */
        readonly absent: "missing" | "ignore";
      };
    }
    : { readonly unset?: never });

/** The behavior of a value, with its transition table for tests. */
export type ValueBehavior<S extends ValueState<unknown>, M extends Message> = Behavior<S, M> & {
  readonly transitions: Table<S, M>;
};

/** Makes the behavior of a value from its description. */
export function value<S extends ValueState<unknown>, M extends Message & { readonly type: "set" | "unset" }>(
  description: ValueDescription<S, M>,
): ValueBehavior<S, M> {
  const { kind, table, key, view, constraints } = description;
  const transitions = tableOf(description);
  return {
    kind,
    table,
    key,
    transitions,
    step: (s, m, now) => runTable(transitions, s, m, now),
    deadline: () => null,
    view,
    ...(constraints && { constraints }),
  };
}

function tableOf<S extends ValueState<unknown>, M extends Message>(d: ValueDescription<S, M>): Table<S, M> {
  const removal = d.unset as (Change<S> & { readonly absent: string }) | undefined;

  function set(s: S | null, m: Of<M, "set">, now: Date): Out<S> {
    const refused = d.set.refusal?.(m, s) ?? null;
    if (refused !== null) return refuse(refused);
    const next = { ...d.set.row(m, now, s), state: "set" } as S;
    return go(next, ...(d.set.parts?.(next) ?? []), entry(d.set, next));
  }

  function unset(s: S): Out<S> {
    return go<S>(null, entry(removal!, s));
  }

  function entry({ action, note }: Change<S>, row: S) {
    return audit(action, d.resource(row), note(row));
  }

  const rows = {
    set: { absent: set, set },
    ...(removal && { unset: { absent: removal.absent, set: unset } }),
  };
  // The description has a part for each message of M, so each message has a row here.
  return rows as unknown as Table<S, M>;
}
