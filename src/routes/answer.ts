// The shapes that every route definition shares.
import type { z } from "zod";
import type { Locate } from "../auth/place.ts";
import type { Action } from "../auth/policy.ts";
import { rightsOf } from "../auth/verdict.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import type { RouteDeps } from "./deps.ts";

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

/** A JSON body that must be there. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true, content: { "application/json": { schema } } };
}

/** The gate of a route and the rights it shows in the description; `locate` finds where its object stands. */
export function rights(deps: RouteDeps, action: Action, locate?: Locate) {
  const gate = deps.allow(action, locate);
  return { middleware: [gate] as [typeof gate], "x-rights": rightsOf(action) };
}

/** The same for a route that takes no credential. */
export function openRights(deps: RouteDeps, action: Action, locate?: Locate) {
  return { ...rights(deps, action, locate), security: [] };
}
