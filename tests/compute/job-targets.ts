// Builds the requests of tests/api/rights-matrix.test.ts to the routes of jobs. Each request to an existing job gets a
// job that no other request uses. `claimed_by` of the job is the caller's node, or a random UUID if the caller has no
// node.
import { randomUUID } from "node:crypto";
import { acceptedBodies } from "../api/bodies.ts";
import type { TestControlPlane } from "../support/control-plane.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };

/** Returns the request of each route. `nodes` has the UUID of the node for each column whose caller is a node. */
export function jobTargets(
  plane: () => TestControlPlane,
  nodes: ReadonlyMap<string, string>,
): Record<string, (objects: Objects, column: string) => Promise<Target>> {
  async function job(objects: Objects, column: string): Promise<string> {
    const id = randomUUID();
    if (objects === "absent") return id;
    await plane().db.query(
      `insert into job (id, incarnation, version, state, kind, target_cn, payload, saga_id, created_at, claimed_by,
         claimed_at, lease_s, lease_until)
       values ($1, $1, 1, 'in_progress', 'fip_release', $2::uuid, '{}', gen_random_uuid(), berth_now(), $2::text,
         berth_now(), 600, berth_now() + interval '600 s')`,
      [id, nodes.get(column) ?? randomUUID()],
    );
    return id;
  }

  const ofJob = (route: string) => async (objects: Objects, column: string) => ({
    path: route.split(" ")[1]!.replace("{job_id}", await job(objects, column)),
    body: acceptedBodies[route]?.(),
  });
  const routes = [
    "GET /v1/agent/jobs/{job_id}/blueprint",
    "POST /v1/agent/jobs/{job_id}/progress",
    "POST /v1/agent/jobs/{job_id}/complete",
    "POST /v1/agent/jobs/{job_id}/bury",
    "GET /v1/system/jobs/{job_id}",
  ];
  return {
    ...Object.fromEntries(routes.map((route) => [route, ofJob(route)])),
    "POST /v1/agent/poll": (_objects, column) =>
      Promise.resolve({ path: "/v1/agent/poll", body: { server_uuid: nodes.get(column) ?? randomUUID() } }),
    "POST /v1/agent/claim": (_objects, column) =>
      Promise.resolve({ path: "/v1/agent/claim", body: { claimed_by: nodes.get(column) ?? randomUUID() } }),
  };
}
