// Names look the same everywhere: they have no direction marks, no invisible characters and no control characters.
// Every route below /v1/ whose body has a name is tested, with an otherwise valid body.
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
const INVISIBLE = ["\u200b", "\u200c", "\u200d", "\u2060", "\u2064", "\ufeff"];
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

test("letters of right-to-left scripts are accepted", async () => {
  for (const name of ["שרת", "خادم", "cafe\u0301", "名前"]) okOf(await t.call("POST", "/v1/silos", { body: { name } }));
});
