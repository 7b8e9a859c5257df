// Tests that commands find a record by the short id that a table on a terminal shows. The option for the record's
// parent is not needed.
import { expect, test } from "vitest";
import {
  DISK,
  INSTANCE,
  NAT_GATEWAY,
  PRIMARY_NIC,
  PROJECT,
  ROUTE,
  ROUTE_TABLE,
  SUBNET,
  TENANT,
  VPC,
} from "./records.ts";
import { requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

const env = { ...TOKEN_ENV, TENANTCTL_PROJECT: PROJECT };
const IN_PROJECT = `tenant=${TENANT}&project=${PROJECT}`;
const TWIN = { ...VPC, id: "11111111-0000-4000-8000-000000000012", name: "db" };
const OPERATION = "99999999-0000-4000-8000-0000000000aa";
const hit = { kind: "operation", id: OPERATION, name: "instance-create", hint: "running" };
const ANSWERS = {
  "GET /v1/vpcs": { items: [VPC, TWIN] },
  "GET /v1/disks": { items: [DISK, { ...DISK, id: "dddddddd-0000-4000-8000-0000000000ff", name: "data" }] },
  "GET /v1/nics": { items: [PRIMARY_NIC] },
  "GET /v1/subnets": { items: [SUBNET] },
  "GET /v1/route-tables": { items: [ROUTE_TABLE] },
  "GET /v1/routes": { items: [ROUTE] },
  "GET /v1/search": { items: [{ ...hit, kind: "instance", id: INSTANCE.id }, hit] },
  [`GET /v1/nics/${PRIMARY_NIC.id}`]: PRIMARY_NIC,
  [`GET /v1/subnets/${SUBNET.id}`]: SUBNET,
  [`GET /v1/routes/${ROUTE.id}`]: ROUTE,
};
const run = (...argv: string[]) => tenantctl([...argv, "-o", "name"], { env, server: serving(ANSWERS) });
const short = (id: string) => id.slice(0, 8);

test("a NIC is found by a prefix of its id in the list of the project", async () => {
  const ran = await run("nic", "show", short(PRIMARY_NIC.id));
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran)).toEqual([`GET /v1/nics?${IN_PROJECT}`, `GET /v1/nics/${PRIMARY_NIC.id}`]);
});

test("a route is found by a prefix of its id in all route tables of the project", async () => {
  const server = serving(ANSWERS);
  const ran = await tenantctl(["route", "show", short(ROUTE.id)], {
    env,
    server: (asked, signal) => asked.query["vpc"] === TWIN.id ? { body: { items: [] } } : server(asked, signal),
  });
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran)).toEqual([
    `GET /v1/vpcs?${IN_PROJECT}`,
    `GET /v1/route-tables?vpc=${VPC.id}&project=${PROJECT}`,
    `GET /v1/route-tables?vpc=${TWIN.id}&project=${PROJECT}`,
    `GET /v1/routes?route_table=${ROUTE_TABLE.id}`,
    `GET /v1/routes/${ROUTE.id}`,
  ]);
});

test("a subnet of one of several VPCs is found by a prefix of its id", async () => {
  const server = serving({ ...ANSWERS });
  const once = await tenantctl(["subnet", "show", short(SUBNET.id)], {
    env,
    server: (asked, signal) =>
      asked.query["vpc"] === TWIN.id && asked.path === "/v1/subnets" ? { body: { items: [] } } : server(asked, signal),
  });
  expect([once.err(), once.code]).toEqual(["", 0]);
  expect(once.asked.at(-1)?.path).toBe(`/v1/subnets/${SUBNET.id}`);
});

test("a prefix that several ids have is refused, and the error lists them", async () => {
  const ran = await run("disk", "resize", short(DISK.id), "--size", "40GiB");
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain("dddddddd matches 2 disks; use one of these UUIDs:");
  expect(ran.err()).toContain(`${DISK.id}  boot`);
  expect(ran.asked.filter(({ method }) => method !== "GET")).toEqual([]);
});

test.each([
  [["disk", "show", "data"], "data is not the id of a disk; to find it by name, also pass --instance"],
  [["disk", "show", "beef"], "beef is not the id of a disk; to find it by name, also pass --instance"],
  [["subnet", "show", "front"], "the project has 2 VPCs (web, db); pass --vpc to find the subnet front by name"],
  [["route", "list", "--route-table", "main"], "(web, db); pass --vpc to find the route table main by name"],
])("the error of %j states how the record is found by name", async (argv, message) => {
  const ran = await run(...argv);
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(message);
});

test.each([[["subnet", "list"]], [["subnet", "create", "--name", "x", "--ipv4-block", "10.0.9.0/24"]]])(
  "the error of %j without --vpc names the VPCs of the project",
  async (argv) => {
    const message = "GET /v1/subnets requires '?vpc=<uuid>'";
    const server = serving({ "GET /v1/vpcs": { items: [VPC, TWIN] } });
    const ran = await tenantctl(argv, {
      env,
      server: (asked, signal) =>
        asked.path === "/v1/subnets"
          ? { status: 400, body: { message, error_code: "MissingScope" } }
          : server(asked, signal),
    });
    expect([ran.code, ran.err()]).toEqual([
      1,
      "error: the project has 2 VPCs (web, db); pass --vpc (MissingScope)\n",
    ]);
  },
);

test("an operation is found by a prefix of its id", async () => {
  const ran = await run("operation", "show", "99999999-00");
  expect(requestsOf(ran)).toEqual(["GET /v1/search?q=99999999-00&kind=operation", `GET /v1/operations/${OPERATION}`]);
  const unknown = await run("operation", "show", "foo");
  expect(unknown.err()).toContain("error: no operation has the id foo; to list them, run: tenantctl operation list");
  expect([unknown.code, unknown.asked]).toEqual([3, []]);
});

test("`port-forward create` finds a NIC by its name if --instance is passed", async () => {
  const ran = await tenantctl(
    `port-forward create --vpc ${VPC.id} --name https --nat-gateway ${NAT_GATEWAY.id} --port 443 --nic primary --instance ${INSTANCE.id}`
      .split(" "),
    { env, server: serving(ANSWERS) },
  );
  expect(ran.asked.at(-1)?.body).toMatchObject({ nic_id: PRIMARY_NIC.id });
});
