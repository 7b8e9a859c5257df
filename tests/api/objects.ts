// One object of every kind that a path or a selector can name, made through the API, for tests that walk all routes.
import { okOf, type TestPlane } from "../harness/control-plane.ts";
import { acceptedBodies } from "./bodies.ts";
import type { RouteDescription } from "./description.ts";

/** By the name of the path parameter, and by the name of the selector: `vpc_id` and `vpc` are the same one. */
export type Objects = Readonly<Record<string, string>>;

/** How each is made, parents before children. The path may name what was made before. */
const MADE: readonly (readonly [name: string, path: string, body: string])[] = [
  ["silo", "/v1/silos", "POST /v1/silos"],
  ["tenant", "/v1/silos/{silo_id}/tenants", "POST /v1/silos/{silo_id}/tenants"],
  ["project", "/v1/tenants/{tenant_id}/projects", "POST /v1/tenants/{tenant_id}/projects"],
];

export async function makeObjects(t: TestPlane): Promise<Objects> {
  const made: Record<string, string> = {};
  for (const [name, path, body] of MADE) {
    const { id } = okOf(await t.call("POST", fill(path, made), { body: acceptedBodies[body]?.() }));
    made[name] = made[`${name}_id`] = id;
  }
  return made;
}

/** Puts objects where a path names them; a name that is not among them stays. */
export function fill(path: string, objects: Objects): string {
  return path.replace(/\{(\w+)\}/g, (whole, name) => objects[name] ?? whole);
}

const SELECTORS = ["tenant", "project", "vpc", "route_table", "instance"];

/** The selectors that a route needs, as query text with its question mark. What `given` says already is left out. */
export function selectorsOf(route: RouteDescription, objects: Objects, given = ""): string {
  const needed = route.parameters.filter(({ name, in: place }) => place === "query" && SELECTORS.includes(name));
  const missing = needed.filter(({ name }) => !new RegExp(`[?&]${name}=`).test(given));
  const text = missing.map(({ name }) => `${name}=${objects[name]}`).join("&");
  return text === "" ? given : given === "" ? `?${text}` : `${given}&${text}`;
}
