// Selects the part of the transition log that the doctor checks. The log grows with the age of the system. Therefore
// the checks of the log read only its newest rows, unless the caller asks for all rows or the log is short. If the
// doctor runs at least once per DOCTOR_LOG_ROWS transitions, it checks every row.
import type { DoctorScope } from "../contract/enums.ts";
import { DOCTOR_LOG_ROWS } from "../contract/limits.ts";

/** `recent`: the newest DOCTOR_LOG_ROWS transitions, and the records that they changed. */
export type Scope = DoctorScope;

/**
 * SQL of the newest rows. It uses a limit, because PostgreSQL plans with the limit's number of rows. With a condition
 * on the id instead, PostgreSQL plans to read the whole log.
 */
const newest = (rows: number) => `(select * from transition order by id desc limit ${rows})`;

/** SQL of the transitions to check. */
export function logIn(scope: Scope): string {
  return scope === "all" ? "transition" : newest(DOCTOR_LOG_ROWS);
}

/**
 * SQL of the transitions with which the checked transitions are compared. This part begins earlier than `logIn`,
 * because the first rows of `logIn` may belong to a commit with earlier rows.
 */
export function widerLogIn(scope: Scope): string {
  return scope === "all" ? "transition" : newest(2 * DOCTOR_LOG_ROWS);
}

type Records = { readonly kind: string; readonly table: string; readonly key: string };

/**
 * SQL of the records to check. In the scope `recent`, these are the records with a transition in the newest part of the
 * log. The keys of these records must be UUIDs.
 */
export function recordsIn(scope: Scope, { kind, table, key }: Records): string {
  if (scope === "all") return table;
  return `(select r.* from ${table} r
            where r.${key} in (select actor_id::uuid from ${logIn(scope)} l where l.actor_kind = '${kind}'))`;
}

/** SQL that is true when the log is so short that the scope `recent` contains the whole log. */
export const LOG_IS_SHORT = `select coalesce(max(id) - min(id), 0) < ${DOCTOR_LOG_ROWS} as short from transition`;
