// The API description states a maximum number of items for some lists. The server's limits for bodies must permit a
// body in which each outermost list has this number of items.
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonLimits } from "../../src/lib/text/json-limits.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { readRoutes, type RouteDescription, type Schema } from "./description.ts";
import { limitsOf } from "./limits-of.ts";

let t: TestControlPlane;
let routes: readonly RouteDescription[];
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
  routes = readRoutes((await t.call("GET", "/openapi.json")).body);
});
afterAll(() => t.close());

/** The number of items of each inner list. Two is usual: two ports, two addresses, two tags. */
const INNER_ITEMS = 2;

/** Returns a typical value with all properties. The outermost lists have the maximum number of items. */
function largest(schema: Schema, isInner = false): unknown {
  const { type, properties, items, maxItems, enum: choices } = schema;
  const variant = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (variant !== undefined) return largest(variant, isInner);
  if (choices !== undefined) return choices[0];
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, largest(each, isInner)]));
  }
  if (type === "array" && items !== undefined) {
    // The description promises no number of items for a list without a maximum.
    const length = isInner || maxItems === undefined ? Math.min(INNER_ITEMS, maxItems ?? INNER_ITEMS) : maxItems;
    const item = largest(items, true);
    return Array.from({ length }, () => item);
  }
  if (type === "integer" || type === "number") return 1_000_000_000;
  if (type === "boolean") return true;
  if (type === "string") return schema.format === "uuid" ? crypto.randomUUID() : "02:be:57:00:00:01";
  return {};
}

test("a body with all lists at their maximum is within the limits of the route", () => {
  const refused = routes.flatMap(({ name, path, body }) => {
    if (body === null) return [];
    const text = JSON.stringify(largest(body));
    const { bytes_max, elements_max } = limitsOf(path);
    if (text.length > bytes_max) return [`${name}: ${text.length} bytes of ${bytes_max}`];
    return jsonLimits(text, elements_max) === null ? [] : [`${name}: more than ${elements_max} elements`];
  });
  expect(refused).toEqual([]);
});

test("the sample of the roster has 10,000 machines with all properties", () => {
  const roster = routes.find(({ name }) => name === "PUT /v2/cn-boot-roster")!;
  const machines = largest(roster.body!) as { readonly aggregate: { readonly macs: readonly string[] } }[];
  expect(machines).toHaveLength(10_000);
  expect(machines[0]!.aggregate.macs).toHaveLength(INNER_ITEMS);
});
