// The shapes that every route definition shares.
import type { z } from "zod";
import type { Locate } from "../auth/resource-scope.ts";
import type { Action } from "../auth/policy.ts";
import { refusalsOf, rightsOf } from "../auth/authorization.ts";
import type { Fault } from "../contract/fault.ts";
import { SCAN_ROWS_MAX } from "../contract/limits.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { scanLimitExceeded } from "../http/page.ts";
import type { RefusalHints, RefusalStatus } from "../http/refusals.ts";
import type { Access } from "./deps.ts";

/** A 200 with a JSON body, and the refusals. */
export function answers<T extends z.ZodType>(schema: T, description: string) {
  return { 200: { description, content: { "application/json": { schema } } }, ...ERROR_RESPONSES };
}

/** The same for a record that was made. */
export function answersCreated<T extends z.ZodType>(schema: T, description: string) {
  return { 201: { description, content: { "application/json": { schema } } }, ...ERROR_RESPONSES };
}

/** A 204, and the refusals. */
export function answersNothing(description: string) {
  return { 204: { description }, ...ERROR_RESPONSES };
}

/** A list without pages: all of its rows, or a refusal that says how to ask for less; null when there is no way. */
export async function wholeList<R>(narrow: string | null, read: (rows: number) => Promise<R[]>): Promise<R[] | Fault> {
  const rows = await read(SCAN_ROWS_MAX + 1);
  return rows.length > SCAN_ROWS_MAX ? scanLimitExceeded(narrow) : rows;
}

/** A JSON body that must be there. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true, content: { "application/json": { schema } } };
}

/** The gate of a route and the rights it shows in the description; `locate` finds where its object stands. */
export function rights(deps: Access, action: Action, locate?: Locate) {
  const gate = deps.allow(action, locate);
  const refusals: RefusalStatus[] = [...refusalsOf(action), ...(locate === undefined ? [] : [404 as const])];
  return { middleware: [gate] as [typeof gate], "x-rights": rightsOf(action), "x-refusals": refusals };
}

/** Refusals that a route has beside those that its method, its path and its rights imply. */
export function refuses(...statuses: RefusalStatus[]) {
  return { "x-also": statuses } satisfies RefusalHints;
}

/** A route that asks or reports, which collides with nothing and may be repeated. */
export const ASKS = { "x-never": [409, 422] } satisfies RefusalHints;

/** A route that writes and takes no Idempotency-Key, since what it says may be said again. */
export const REPEATABLE = { "x-never": [422] } satisfies RefusalHints;

/** The same for a route that takes no credential. */
export function openRights(deps: Access, action: Action, locate?: Locate) {
  return { ...rights(deps, action, locate), security: [] };
}
