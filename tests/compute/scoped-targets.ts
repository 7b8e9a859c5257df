// Builds the requests of tests/api/rights-matrix.test.ts to the routes of images and SSH keys. Each cell of the matrix
// has its own public image or key. visibility.test.ts tests the other scopes.
import { randomUUID } from "node:crypto";
import { acceptedBodies } from "../api/bodies.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };

const FAMILIES = [["/v1/images", "image_id"], ["/v1/ssh-keys", "key_id"]] as const;

export function scopedTargets(
  plane: () => TestControlPlane,
): Record<string, (objects: Objects) => Promise<Target> | Target> {
  return Object.fromEntries(FAMILIES.flatMap(([base, param]) => {
    const one = (route: string) => async (objects: Objects) => {
      const made = async () => okOf(await plane().call("POST", base, { body: acceptedBodies[`POST ${base}`]?.() })).id;
      return {
        path: `${base}/${objects === "existing" ? await made() : randomUUID()}`,
        body: acceptedBodies[route]?.(),
      };
    };
    const all = () => ({ path: `${base}?scope=public` });
    const ofOne = ["GET", "PATCH", "DELETE"].map((method) => `${method} ${base}/{${param}}`);
    return [[`GET ${base}`, all], ...ofOne.map((route) => [route, one(route)] as const)];
  }));
}
