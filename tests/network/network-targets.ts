// Builds the requests of the rights matrix for VPCs, the records in them, and placement groups. For a request
// with the id of a record of FAMILIES, a new record is made. The other requests share the objects of one fixture.
import { randomUUID } from "node:crypto";
import { acceptedBodies } from "../api/bodies.ts";
import { makeObjects } from "../api/objects.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };

/** The path of each list, the path parameter of its records, and the selectors of the list. */
const FAMILIES: readonly (readonly [base: string, param: string, selectors: readonly string[]])[] = [
  ["/v1/vpcs", "vpc_id", ["tenant", "project"]],
  ["/v1/placement-groups", "placement_group_id", ["tenant", "project"]],
  ["/v1/subnets", "subnet_id", ["vpc"]],
  ["/v1/route-tables", "route_table_id", ["vpc"]],
  ["/v1/routes", "route_id", ["route_table"]],
  ["/v1/firewall-rules", "firewall_rule_id", ["vpc"]],
];

const SET = "/v1/vpcs/{vpc_id}/firewall-rules";
const CHECKED = "?source=198.51.100.7&destination=10.0.0.9&destination_port=22";

export function networkTargets(plane: () => TestControlPlane): Record<string, (objects: Objects) => Promise<Target>> {
  let made: ReturnType<typeof makeObjects> | undefined;
  const fixture = () => made ??= makeObjects(plane());
  const bodyOf = async (route: string) => acceptedBodies[route]?.(await fixture());

  function targetsOf([base, param, selectors]: (typeof FAMILIES)[number]) {
    const all = async (objects: Objects) => {
      const ids = objects === "existing" ? await fixture() : {};
      return `${base}?${selectors.map((name) => `${name}=${ids[name] ?? randomUUID()}`).join("&")}`;
    };
    const one = async (objects: Objects) => {
      if (objects === "absent") return `${base}/${randomUUID()}`;
      const body = await bodyOf(`POST ${base}`);
      return `${base}/${okOf(await plane().call("POST", await all(objects), { body })).id}`;
    };
    return {
      [`GET ${base}`]: async (objects: Objects) => ({ path: await all(objects) }),
      [`POST ${base}`]: async (objects: Objects) => ({ path: await all(objects), body: await bodyOf(`POST ${base}`) }),
      [`GET ${base}/{${param}}`]: async (objects: Objects) => ({ path: await one(objects) }),
      [`PATCH ${base}/{${param}}`]: async (objects: Objects) => ({
        path: await one(objects),
        body: await bodyOf(`PATCH ${base}/{${param}}`),
      }),
      [`DELETE ${base}/{${param}}`]: async (objects: Objects) => ({ path: await one(objects) }),
    };
  }

  const association = "PUT /v1/subnets/{subnet_id}/route-table";
  return {
    ...Object.assign({}, ...FAMILIES.map(targetsOf)),
    ...Object.fromEntries(["GET", "PUT"].map((method) => [
      `${method} ${SET}`,
      async (objects: Objects) => ({
        path: `/v1/vpcs/${objects === "existing" ? (await fixture()).vpc : randomUUID()}/firewall-rules`,
        ...(method === "PUT" && { body: await bodyOf(`PUT ${SET}`) }),
      }),
    ])),
    "GET /v1/vpcs/{vpc_id}/firewall-check": async (objects: Objects) => ({
      path: `/v1/vpcs/${objects === "existing" ? (await fixture()).vpc : randomUUID()}/firewall-check` + CHECKED,
    }),
    [association]: async (objects: Objects) => ({
      path: `/v1/subnets/${objects === "existing" ? (await fixture()).subnet : randomUUID()}/route-table`,
      body: await bodyOf(association),
    }),
  };
}
