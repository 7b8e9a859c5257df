// Builds the requests of tests/api/rights-matrix.test.ts to the routes of instances, disks and NICs. All cells of the
// matrix share one instance, whose state must not change. So the server refuses every request that would change the
// state, after the permission check: an operation that never ends occupies the instance, or a field of the body is
// invalid.
import { randomUUID } from "node:crypto";
import { acceptedBodies } from "../api/bodies.ts";
import { fill, makeObjects } from "../api/objects.ts";
import type { TestControlPlane } from "../support/control-plane.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };

const NAMES = ["tenant", "project", "instance", "disk", "snapshot", "nic", "nic_subnet"];
const ABSENT = Object.fromEntries(NAMES.flatMap((name) => [[name, randomUUID()], [`${name}_id`, randomUUID()]]));

/**
 * The query of each route, and fields that are added to the body. An invalid field, such as cpu 0, makes a permitted
 * request fail without an effect.
 */
const ROUTES: Readonly<Record<string, { readonly query?: string; readonly body?: object }>> = {
  "GET /v1/instances": { query: "?tenant={tenant}&project={project}" },
  "POST /v1/instances": { query: "?tenant={tenant}&project={project}", body: { cpu: 0 } },
  "GET /v1/instances/{instance_id}": {},
  "PATCH /v1/instances/{instance_id}": {},
  "DELETE /v1/instances/{instance_id}": {},
  "POST /v1/instances/{instance_id}/start": {},
  "POST /v1/instances/{instance_id}/stop": {},
  "POST /v1/instances/{instance_id}/restart": {},
  "POST /v1/instances/{instance_id}/reset": {},
  "POST /v1/instances/{instance_id}/retry": {},
  "POST /v1/instances/{instance_id}/rebuild": {},
  "POST /v1/instances/{instance_id}/migrate": {},
  "GET /v1/instances/{instance_id}/migrations": {},
  "POST /v1/instances/{instance_id}/console-ticket": {},
  "GET /v1/instances/{instance_id}/console": {},
  "GET /v1/instances/{instance_id}/consoles": {},
  "GET /v1/instances/{instance_id}/console-log": {},
  "GET /v1/instances/{instance_id}/metrics": {},
  "GET /v1/instances/{instance_id}/load": {},
  "GET /v1/instances/{instance_id}/screenshot": {},
  // Without a port the answer is 400. With a port, the request would wait for a node that does not answer.
  "GET /v1/system/instances/{instance_id}/network-trace": { query: "?destination=2001:db8::1" },
  "GET /v1/disks": { query: "?instance={instance}" },
  "GET /v1/disks/{disk_id}": {},
  "POST /v1/disks": { query: "?instance={instance}", body: { name: "data", size_bytes: 1 } },
  "POST /v1/disks/{disk_id}/attach": {},
  "POST /v1/disks/{disk_id}/detach": {},
  "DELETE /v1/disks/{disk_id}": {},
  "PATCH /v1/disks/{disk_id}": { body: { description: "kept" } },
  "POST /v1/disks/{disk_id}/resize": { body: { size_bytes: 1 } },
  "GET /v1/snapshots": { query: "?instance={instance}" },
  "GET /v1/snapshots/{snapshot_id}": {},
  "POST /v1/snapshots": { query: "?disk={disk}" },
  "PATCH /v1/snapshots/{snapshot_id}": { body: { description: "kept" } },
  "DELETE /v1/snapshots/{snapshot_id}": {},
  "POST /v1/snapshots/{snapshot_id}/image": { body: { name: "golden" } },
  "GET /v1/nics": { query: "?instance={instance}" },
  "GET /v1/nics/{nic_id}": {},
  "POST /v1/nics": { query: "?instance={instance}", body: { subnet_id: "{nic_subnet}" } },
  "PATCH /v1/nics/{nic_id}": {},
  "DELETE /v1/nics/{nic_id}": {},
};

export function instanceTargets(plane: () => TestControlPlane): Record<string, (objects: Objects) => Promise<Target>> {
  let made: Promise<Readonly<Record<string, string>>> | undefined;
  const target = (route: string) => async (objects: Objects) => {
    const { query = "", body } = ROUTES[route]!;
    const path = route.split(" ")[1]! + query;
    const usual = acceptedBodies[route]?.();
    const ids = objects === "existing" ? await (made ??= makeObjects(plane())) : ABSENT;
    return {
      path: fill(path, ids),
      body: usual === undefined ? undefined : JSON.parse(fill(JSON.stringify({ ...usual, ...body }), ids)),
    };
  };
  return Object.fromEntries(Object.keys(ROUTES).map((route) => [route, target(route)]));
}
