// Builds requests of the rights matrix for the routes of public addresses and of webhooks. The VPCs, NICs and webhooks
// are in one project. The floating IPs and gateways have IPv6 addresses, because the pool of IPv4 addresses is too
// small.
import { randomUUID } from "node:crypto";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { acceptedBodies, NIC_TAG } from "./bodies.ts";
import { makeObjects } from "./objects.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };
/** The ids that paths, selectors and bodies need. */
type InstanceFixture = Readonly<Record<"tenant" | "project" | "vpc" | "network" | "nic" | "nat_gateway", string>>;

const NOWHERE: InstanceFixture = {
  tenant: randomUUID(),
  project: randomUUID(),
  vpc: randomUUID(),
  network: randomUUID(),
  nic: randomUUID(),
  nat_gateway: randomUUID(),
};

type Family = {
  readonly base: string;
  readonly param: string;
  readonly change?: "PATCH" | "PUT";
  readonly selectors?: (fixture: InstanceFixture) => string;
  /** Returns the fields of a valid body that name other objects. */
  readonly fields?: (fixture: InstanceFixture) => object;
};

const FAMILIES: readonly Family[] = [
  {
    base: "/v1/nat-gateways",
    param: "nat_gateway_id",
    change: "PATCH",
    selectors: ({ vpc }) => `?vpc=${vpc}`,
  },
  {
    base: "/v1/port-forwards",
    param: "port_forward_id",
    change: "PATCH",
    selectors: ({ vpc }) => `?vpc=${vpc}`,
    fields: ({ nat_gateway, nic }) => ({ nat_gateway_id: nat_gateway, nic_id: nic }),
  },
  {
    base: "/v1/floating-ips",
    param: "floating_ip_id",
    change: "PATCH",
    selectors: ({ tenant, project }) => `?tenant=${tenant}&project=${project}`,
  },
  {
    base: "/v1/webhooks",
    param: "webhook_id",
    change: "PATCH",
    selectors: ({ tenant, project }) => `?tenant=${tenant}&project=${project}`,
  },
  { base: "/v1/system/nic-tags", param: "nic_tag_id" },
  { base: "/v1/system/external-subnets", param: "external_subnet_id", change: "PATCH" },
  {
    base: "/v1/system/network-pools",
    param: "network_pool_id",
    change: "PUT",
    fields: ({ network }) => ({ networks: [network] }),
  },
];

export function publicAddressTargets(
  plane: () => TestControlPlane,
): Record<string, (objects: Objects) => Promise<Target>> {
  let made: Promise<InstanceFixture> | undefined;
  const fixture = () => made ??= makeFixture(plane());
  const families = Object.fromEntries(
    FAMILIES.flatMap(({ base, param, change, selectors = () => "", fields = () => ({}) }) => {
      const bodyOf = async (route: string) => ({
        ...acceptedBodies[route]?.(),
        ...route.startsWith("PATCH") ? {} : fields(await fixture()),
      });
      const all = async (objects: Objects) => base + selectors(objects === "existing" ? await fixture() : NOWHERE);
      const one = async (objects: Objects) => {
        if (objects === "absent") return `${base}/${randomUUID()}`;
        const body = await bodyOf(`POST ${base}`);
        return `${base}/${okOf(await plane().call("POST", await all("existing"), { body })).id}`;
      };
      const changed = `${change} ${base}/{${param}}`;
      return [
        [`GET ${base}`, async (objects: Objects) => ({ path: await all(objects) })],
        [
          `POST ${base}`,
          async (objects: Objects) => ({ path: await all(objects), body: await bodyOf(`POST ${base}`) }),
        ],
        [`GET ${base}/{${param}}`, async (objects: Objects) => ({ path: await one(objects) })],
        [`DELETE ${base}/{${param}}`, async (objects: Objects) => ({ path: await one(objects) })],
        [changed, async (objects: Objects) => ({ path: await one(objects), body: await bodyOf(changed) })],
      ];
    }),
  );
  return {
    ...families,
    ...bindingTargets(fixture, families[`GET ${FLOATING_IP}`]!),
    ...deliveryTargets(plane, families["GET /v1/webhooks/{webhook_id}"]!),
  };
}

/** Returns the requests for the deliveries of a webhook. */
function deliveryTargets(plane: () => TestControlPlane, target: (objects: Objects) => Promise<Target>) {
  // A project may have only a few webhooks, so all requests for an existing webhook use the same webhook.
  let made: Promise<Target> | undefined;
  const one = (objects: Objects) => objects === "existing" ? made ??= target(objects) : target(objects);
  const below = (rest: string) => async (objects: Objects) => ({ path: `${(await one(objects)).path}${rest}` });
  const delivery = (rest: string) => async (objects: Objects) => {
    const { path } = await one(objects);
    const id = objects === "existing" ? okOf(await plane().call("POST", `${path}/test`)).id : randomUUID();
    return { path: `${path}/deliveries/${id}${rest}` };
  };
  return {
    "GET /v1/webhooks/{webhook_id}/deliveries": below("/deliveries"),
    "POST /v1/webhooks/{webhook_id}/test": below("/test"),
    "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": delivery(""),
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": delivery("/redeliver"),
  };
}

const FLOATING_IP = "/v1/floating-ips/{floating_ip_id}";

/**
 * Returns requests that change nothing. A request to attach is refused, because it names the NIC of an instance that is
 * being deleted. A request to detach names a floating IP that is not attached.
 */
function bindingTargets(fixture: () => Promise<InstanceFixture>, one: (objects: Objects) => Promise<Target>) {
  const places = [FLOATING_IP, `/v1/tenants/{tenant_id}/projects/{project_id}${FLOATING_IP.slice(3)}`];
  return Object.fromEntries(
    places.flatMap((place) =>
      ["attach", "detach"].map((verb) => [`POST ${place}/${verb}`, async (objects: Objects) => {
        const { tenant, project, nic } = objects === "existing" ? await fixture() : NOWHERE;
        const alone = (await one(objects)).path;
        const path = place === FLOATING_IP ? alone : `/v1/tenants/${tenant}/projects/${project}${alone.slice(3)}`;
        return { path: `${path}/${verb}`, body: verb === "attach" ? { nic_id: nic } : undefined };
      }])
    ),
  );
}

async function makeFixture(t: TestControlPlane): Promise<InstanceFixture> {
  const { tenant = "", project = "", vpc = "", nic = "", nat_gateway = "" } = await makeObjects(t);
  okOf(await t.call("POST", "/v1/system/nic-tags", { body: { name: NIC_TAG, mtu: 1_500 } }));
  const body = acceptedBodies["POST /v1/system/external-subnets"]?.();
  const network = okOf(await t.call("POST", "/v1/system/external-subnets", { body }));
  return { tenant, project, vpc, nic, nat_gateway, network: network.id };
}
