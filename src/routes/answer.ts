// Defines the parts that route definitions share.
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

/** Returns the responses of a route: 200 with a JSON body, and the errors. */
export function answers<T extends z.ZodType>(schema: T, description: string) {
  return { 200: { description, content: { "application/json": { schema } } }, ...ERROR_RESPONSES };
}

/** Returns the responses of a route: 201 with a JSON body, and the errors. */
export function answersCreated<T extends z.ZodType>(schema: T, description: string) {
  return { 201: { description, content: { "application/json": { schema } } }, ...ERROR_RESPONSES };
}

/** Returns the responses of a route: 204, and the errors. */
export function answersNothing(description: string) {
  return { 204: { description }, ...ERROR_RESPONSES };
}

/** Returns the responses of a route that becomes a WebSocket: 101, and the errors. */
export function switchesProtocols(description: string) {
  return { 101: { description }, ...ERROR_RESPONSES };
}

/** Reads all rows of a list without pages. If there are too many rows, returns a fault with the advice. */
export async function wholeList<R>(advice: string, read: (rows: number) => Promise<R[]>): Promise<R[] | Fault> {
  const rows = await read(SCAN_ROWS_MAX + 1);
  return rows.length > SCAN_ROWS_MAX ? scanLimitExceeded(advice) : rows;
}

/** Returns the definition of a required JSON body. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true, content: { "application/json": { schema } } };
}

/**
 * Returns the authorization of a route and its texts for the API description. `locate` finds the scope of the object.
 */
export function rights(deps: Access, action: Action, locate?: Locate) {
  const authorize = deps.allow(action, locate);
  const refusals: RefusalStatus[] = [...refusalsOf(action), ...(locate === undefined ? [] : [404 as const])];
  return { middleware: [authorize] as [typeof authorize], "x-rights": rightsOf(action), "x-refusals": refusals };
}

/** Adds error statuses to the statuses that follow from the method, the path and the permissions. */
export function refuses(...statuses: RefusalStatus[]) {
  return { "x-also": statuses } satisfies RefusalHints;
}

/** For routes with which a program only polls or reports. Such routes have no conflicts and take no Idempotency-Key. */
export const ASKS = { "x-never": [409, 422] } satisfies RefusalHints;

/** For routes that write without an Idempotency-Key, because a repeated request has the same effect. */
export const REPEATABLE = { "x-never": [422] } satisfies RefusalHints;

/** Returns the same as `rights`, for a route that needs no credential. */
export function openRights(deps: Access, action: Action, locate?: Locate) {
  return { ...rights(deps, action, locate), security: [] };
}
