// Names look the same everywhere: they have no direction marks, no invisible characters and no control characters. The
// tests cover the routes below /v1/ whose body has a name and whose path the test can fill. They send bodies that are
// valid except for the name.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acceptedBodies } from "../api/bodies.ts";
import { readRoutes, type RouteDescription } from "../api/description.ts";
import { fill, makeObjects, type Objects, selectorsOf } from "../api/objects.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const DIRECTION = [
  "\u061c",
  "\u200e",
  "\u200f",
  ..."\u202a\u202b\u202c\u202d\u202e",
  ..."\u2066\u2067\u2068\u2069",
];
const INVISIBLE = [
  ..."\u200b\u200c\u200d\u2060\u2064\ufeff",
  // A soft hyphen, a Hangul filler, a variation selector and a tag.
  ..."\u00ad\u3164\ufe0f\u{e0041}",
];
const CONTROL = ["\u001b", "\u007f", "\u0085", "\u009b", "\u2028", "\u2029"];

let folder: TemporaryFolder;
let t: TestControlPlane;
let objects: Objects;
let named: readonly RouteDescription[];
beforeAll(async () => {
  folder = await temporaryFolder("names");
  // Only a site that stores images accepts uploads.
  t = await openTestControlPlane({ env: { BERTH_IMAGE_DIR: folder.path } });
  objects = await makeObjects(t);
  const routes = readRoutes((await t.call("GET", "/openapi.json")).body);
  named = routes.filter(({ body, path }) => body?.properties?.name !== undefined && path.startsWith("/v1/"));
}, 30_000);
afterAll(async () => {
  await t.close();
  await folder.remove();
});

/** Returns the routes with a name in the body whose path parameters `objects` can fill. */
function asked(): readonly RouteDescription[] {
  return named.filter(({ path }) => fill(path, objects) === fill(path, objects).replace(/[{}]/g, ""));
}

async function send(route: RouteDescription, name: string) {
  // The body of an instance must name an existing image and an existing subnet.
  const from = { image_id: objects.image, primary_subnet_id: objects.subnet, extra_nics: [], ssh_key_ids: [] };
  const body = { ...acceptedBodies[route.name]?.(objects), ...(route.name === "POST /v1/instances" && from), name };
  return await t.call(route.method, fill(route.path, objects) + selectorsOf(route, objects), { body });
}

const hex = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

test("the tested routes cover these kinds of records", () => {
  const nouns = new Set(asked().map(({ path }) => path.replace(/\/\{\w+\}$/, "").split("/").at(-1)));
  expect([...nouns].sort()).toEqual([
    "disks",
    "external-subnets",
    "firewall-rules",
    "floating-ips",
    "image",
    "image-uploads",
    "images",
    "instances",
    "nat-gateways",
    "network-pools",
    "nic-tags",
    "nics",
    "placement-groups",
    "port-forwards",
    "projects",
    "route-tables",
    "routes",
    "silos",
    "snapshots",
    "ssh-keys",
    "subnets",
    "tenants",
    "vpcs",
    "webhooks",
  ]);
});

describe("a misleading name is refused with 409, and nothing is written", () => {
  test.each(
    [
      ...DIRECTION.map((
        each,
      ) => [each, `must not contain characters that change the direction of text (${hex(each)})`]),
      ...INVISIBLE.map((each) => [each, `must not contain invisible characters (${hex(each)})`]),
      ...CONTROL.map((each) => [each, "must not contain control characters"]),
    ] as const,
  )("%j", async (character, rule) => {
    const count = "select (select count(*) from silo)::int as silos, (select count(*) from vpc)::int as vpcs";
    const before = (await t.db.query(count)).rows;
    for (const route of ["POST /v1/silos", "PATCH /v1/vpcs/{vpc_id}", "POST /v1/vpcs"]) {
      const found = named.find(({ name }) => name === route)!;
      const answer = await send(found, `we${character}b`);
      expect([route, answer.status, answer.body.message]).toEqual([route, 409, `name ${rule}`]);
    }
    expect((await t.db.query(count)).rows).toEqual(before);
  });

  test("on every route that takes a name", async () => {
    const answers: Record<string, unknown> = {};
    for (const route of asked()) {
      const { status, body } = await send(route, "pay\u202elap");
      answers[route.name] = [status, body.message];
    }
    const refused = [409, "name must not contain characters that change the direction of text (U+202E)"];
    expect(answers).toEqual(Object.fromEntries(asked().map(({ name }) => [name, refused])));
  });

  test("in the description of an API key", async () => {
    for (const path of ["/v1/auth/api-keys", `/v1/tenants/${objects.tenant}/api-keys`]) {
      const answer = await t.call("POST", path, { body: { description: "ci\u2066" } });
      const message = "description must not contain characters that change the direction of text (U+2066)";
      expect(answer).toMatchObject({ status: 409, body: { message } });
    }
  });
});

test("a stored name that an earlier version accepted stays, and does not prevent other changes", async () => {
  const stored = "i\u2764\ufe0f";
  const changes = [
    ["silo", objects.silo, `/v1/silos/${objects.silo}`, { description: "the first" }],
    ["nic", objects.nic, `/v1/nics/${objects.nic}`, { labels: { tier: "web" } }],
  ] as const;
  for (const [table, id, path, change] of changes) {
    const { rows: [before] } = await t.db.query(`select name from ${table} where id = $1`, [id]);
    await t.db.query(`update ${table} set name = $2 where id = $1`, [id, stored]);
    for (const body of [change, { ...change, name: stored }]) {
      expect(okOf(await t.call("PATCH", path, { body }))).toMatchObject({ ...change, name: stored });
    }
    expect((await t.call("PATCH", path, { body: { name: `${stored}2` } })).status).toBe(409);
    await t.db.query(`update ${table} set name = $2 where id = $1`, [id, before!.name]);
  }
});

test("letters of right-to-left scripts are accepted", async () => {
  for (const name of ["שרת", "خادم", "cafe\u0301", "名前"]) okOf(await t.call("POST", "/v1/silos", { body: { name } }));
});

describe("a name that is in use is refused with a 409 that contains the name and no placeholder", () => {
  /** Creates another object with the name. Then renames the object of the path to this name, which must be refused. */
  async function rename(route: RouteDescription, name: string) {
    const collection = route.path.replace(/\/\{\w+\}$/, "");
    const create = named.find((each) => each.name === `POST ${collection}`)!;
    // No agent works on the instance, so its create does not end; its name is in use at once.
    const created = send(create, name);
    if (collection === "/v1/instances") {
      created.catch(() => {});
      const count = "select count(*)::int as found from instance where name = $1";
      await expect.poll(async () => (await t.db.query(count, [name])).rows[0]!.found).toBe(1);
    } else okOf(await created);
    return await t.call("PATCH", fill(route.path, objects), { body: { name } });
  }
  /** Objects of an instance. Their faults have no placeholder such as <name>. */
  const OF_INSTANCES = ["/v1/disks/{disk_id}", "/v1/snapshots/{snapshot_id}", "/v1/nics/{nic_id}"];

  test("on every API route that renames an object, except network routes, which may have equal names", async () => {
    const answers: Record<string, unknown> = {};
    const routes = asked().filter(({ method, path }) => method === "PATCH" && !OF_INSTANCES.includes(path));
    for (const [index, route] of routes.entries()) {
      const name = `taken-${index}`;
      const { status, body } = await rename(route, name);
      answers[route.path] = [status, String(body.message).replace(objects.project!, "PROJECT").replace(name, "NAME")];
    }
    expect(answers).toMatchInlineSnapshot(`
      {
        "/v1/firewall-rules/{firewall_rule_id}": [
          409,
          "a firewall rule named NAME already exists in this vpc",
        ],
        "/v1/floating-ips/{floating_ip_id}": [
          409,
          "a floating ip named NAME already exists in this project",
        ],
        "/v1/images/{image_id}": [
          409,
          "an image named NAME already exists in this scope",
        ],
        "/v1/instances/{instance_id}": [
          409,
          "instance with name NAME already exists in project PROJECT",
        ],
        "/v1/nat-gateways/{nat_gateway_id}": [
          409,
          "a nat gateway named NAME already exists in this VPC",
        ],
        "/v1/placement-groups/{placement_group_id}": [
          409,
          "a placement group named NAME already exists in this project",
        ],
        "/v1/port-forwards/{port_forward_id}": [
          409,
          "a port forward named NAME already exists in this vpc",
        ],
        "/v1/route-tables/{route_table_id}": [
          409,
          "a route table named NAME already exists in this vpc",
        ],
        "/v1/routes/{route_id}": [
          200,
          "undefined",
        ],
        "/v1/silos/{silo_id}": [
          409,
          "a silo named NAME already exists",
        ],
        "/v1/silos/{silo_id}/tenants/{tenant_id}": [
          409,
          "a tenant named NAME already exists in this silo",
        ],
        "/v1/ssh-keys/{key_id}": [
          409,
          "an ssh key named NAME already exists in this scope",
        ],
        "/v1/subnets/{subnet_id}": [
          409,
          "a subnet named NAME already exists in this vpc",
        ],
        "/v1/tenants/{tenant_id}/projects/{project_id}": [
          409,
          "a project named NAME already exists in this tenant",
        ],
        "/v1/vpcs/{vpc_id}": [
          409,
          "a vpc named NAME already exists in this project",
        ],
        "/v1/webhooks/{webhook_id}": [
          409,
          "a webhook named NAME already exists in this project",
        ],
      }
    `);
  });
});
