// Tests the networking commands: their requests, columns and lines, and the errors of wrong commands.
import { describe, expect, test } from "vitest";
import {
  FIREWALL_RULE,
  FLOATING_IP,
  NAT_GATEWAY,
  NIC,
  PORT_FORWARD,
  PROJECT,
  ROUTE,
  ROUTE_TABLE,
  SUBNET,
  TENANT,
  VPC,
} from "./records.ts";
import { requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

const IN_PROJECT = `tenant=${TENANT}&project=${PROJECT}`;
const FAMILIES = [
  {
    noun: "vpc",
    path: "/v1/vpcs",
    record: VPC,
    scope: ["--project", PROJECT],
    selectors: IN_PROJECT,
    table: `NAME  ID        IPV4_BLOCK   IPV6_BLOCK  AGE  VNI\nweb   11111111  10.0.0.0/16  -           3h   4711\n`,
    lines: `id:           ${VPC.id}\nname:         web\ndescription:  front\nipv4_block:   10.0.0.0/16\n` +
      `ipv6_block:   -\nvni:          4711\nproject:      ${PROJECT}\ncreated_at:   ${VPC.created_at}\n`,
    deleted: `Vpc ${VPC.id} deleted.\n`,
  },
  {
    noun: "subnet",
    path: "/v1/subnets",
    record: SUBNET,
    scope: ["--vpc", VPC.id],
    selectors: `vpc=${VPC.id}`,
    table: `NAME  ID        IPV4_BLOCK   IPV6_BLOCK  KIND      AGE\n` +
      `dmz   22222222  10.0.1.0/24  -           internal  3h\n`,
    lines: `id:           ${SUBNET.id}\nname:         dmz\ndescription:  -\nkind:         internal\n` +
      `ipv4_block:   10.0.1.0/24\nipv6_block:   -\nvpc:          ${VPC.id}\nroute_table:  ${ROUTE_TABLE.id}\n` +
      `created_at:   ${SUBNET.created_at}\n`,
    deleted: `Subnet ${SUBNET.id} deleted.\n`,
  },
  {
    noun: "nat-gateway",
    path: "/v1/nat-gateways",
    record: NAT_GATEWAY,
    scope: ["--vpc", VPC.id],
    selectors: `vpc=${VPC.id}`,
    table: `NAME    ID        PUBLIC_ADDR\negress  33333333  203.0.113.2\n`,
    lines: `id:              ${NAT_GATEWAY.id}\nname:            egress\nvpc:             ${VPC.id}\n` +
      `project:         ${PROJECT}\npublic_address:  203.0.113.2\nfamily:          v4\nnetwork:         -\nconnections:     -\n`,
    deleted: `NAT gateway ${NAT_GATEWAY.id} deleted.\n`,
  },
  {
    noun: "port-forward",
    path: "/v1/port-forwards",
    record: PORT_FORWARD,
    scope: ["--vpc", VPC.id],
    selectors: `vpc=${VPC.id}`,
    table: `NAME   ID        PROTO  PORT  NIC       NIC_PORT\nhttps  7a7a7a7a  tcp    443   7b7b7b7b  8443\n`,
    lines: `id:           ${PORT_FORWARD.id}\nname:         https\ndescription:  -\nvpc:          ${VPC.id}\n` +
      `project:      ${PROJECT}\nnat_gateway:  ${NAT_GATEWAY.id}\nprotocol:     tcp\npublic_port:  443\n` +
      `nic:          ${PORT_FORWARD.nic_id}\nnic_port:     8443\n`,
    deleted: `Port forward ${PORT_FORWARD.id} deleted.\n`,
  },
  {
    noun: "floating-ip",
    path: "/v1/floating-ips",
    record: FLOATING_IP,
    scope: ["--project", PROJECT],
    selectors: IN_PROJECT,
    table: `NAME  ID        ADDRESS      ATTACHED_TO\nwww   44444444  203.0.113.3  -\n`,
    lines: `id:           ${FLOATING_IP.id}\nname:         www\naddress:      203.0.113.3\nattached_to:  -\n`,
    deleted: `Floating IP ${FLOATING_IP.id} deleted.\n`,
  },
  {
    noun: "route-table",
    path: "/v1/route-tables",
    record: ROUTE_TABLE,
    scope: ["--vpc", VPC.id],
    selectors: `vpc=${VPC.id}`,
    table: `NAME  ID        MAIN\nmain  55555555  yes\n`,
    lines: `id:       ${ROUTE_TABLE.id}\nname:     main\nvpc:      ${VPC.id}\nproject:  ${PROJECT}\nis_main:  true\n`,
    deleted: `Route table ${ROUTE_TABLE.id} deleted.\n`,
  },
  {
    noun: "route",
    path: "/v1/routes",
    record: ROUTE,
    scope: ["--route-table", ROUTE_TABLE.id],
    selectors: `route_table=${ROUTE_TABLE.id}`,
    table: `NAME     ID        DEST       TARGET\ndefault  66666666  0.0.0.0/0  nat_gateway ${NAT_GATEWAY.id}\n`,
    lines: `id:           ${ROUTE.id}\nname:         default\ndescription:  out\nvpc:          ${VPC.id}\n` +
      `route_table:  ${ROUTE_TABLE.id}\ndestination:  0.0.0.0/0\n` +
      `target:       nat_gateway ${NAT_GATEWAY.id}\n`,
    deleted: `Route ${ROUTE.id} deleted.\n`,
  },
  {
    noun: "firewall-rule",
    path: "/v1/firewall-rules",
    record: FIREWALL_RULE,
    scope: ["--vpc", VPC.id],
    selectors: `vpc=${VPC.id}`,
    table: `NAME  ID        DIR      ACTION  PRIO  PROTO  SOURCE  DEST\n` +
      `http  77777777  inbound  allow   100   tcp    any     10.0.1.0/24 ports 80-443\n`,
    lines: `id:           ${FIREWALL_RULE.id}\nname:         http\ndescription:  -\nvpc:          ${VPC.id}\n` +
      `project:      ${PROJECT}\ndirection:    inbound\naction:       allow\nprotocol:     tcp\npriority:     100\n` +
      `source:       any\ndestination:  10.0.1.0/24 ports 80-443\npackets:      -\nbytes:        -\n`,
    deleted: `FirewallRule ${FIREWALL_RULE.id} deleted.\n`,
  },
] as const;

describe.each(FAMILIES)("$noun", ({ noun, path, record, scope, selectors, table, lines, deleted }) => {
  const by_id = `${path}/${record.id}`;
  const server = serving({
    [`GET ${path}`]: { items: [record] },
    [`GET ${by_id}`]: record,
    [`PATCH ${by_id}`]: record,
    [`DELETE ${by_id}`]: {},
  });
  const run = (...argv: string[]) =>
    tenantctl([noun, ...argv], { env: TOKEN_ENV, server, wall_ms: 3 * 3_600_000 + Date.parse(VPC.created_at) });

  test("`list` sends the selectors and prints the columns", async () => {
    const ran = await run("list", ...scope);
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual([`GET ${path}?${selectors}`]);
    expect(ran.out()).toBe(table);
    expect((await run("list", ...scope, "-o", "wide")).out()).toContain(`  ${record.id}  `);
    expect((await run("list", ...scope, "--no-headers")).out()).toBe(table.slice(table.indexOf("\n") + 1));
    expect(JSON.parse((await run("list", ...scope, "-o", "json")).out())).toEqual({ items: [record] });
  });

  test("`show` sends one request and prints the lines, or the raw record with -o json and yaml", async () => {
    const ran = await run("show", record.id);
    expect(requestsOf(ran)).toEqual([`GET ${by_id}`]);
    expect(ran.out()).toBe(lines);
    expect(JSON.parse((await run("show", record.id, "-o", "json")).out())).toEqual(record);
    expect((await run("show", record.id, "-o", "yaml")).out()).toContain(`id: "${record.id}"\n`);
  });

  test("`update` sends only the given fields and prints the same lines as `show`", async () => {
    const ran = await run("update", record.id, "--name", "n2", "--description", "");
    expect(requestsOf(ran)).toEqual([`PATCH ${by_id}`]);
    expect(ran.asked[0]!.body).toEqual({ name: "n2", description: "" });
    expect(ran.out()).toBe(lines);
    const none = await run("update", record.id);
    expect([none.code, none.asked]).toEqual([2, []]);
  });

  test.each(["table", "wide", "json", "yaml"])("`delete` prints one line with -o %s", async (format) => {
    const ran = await run("delete", record.id, "-o", format);
    expect(requestsOf(ran)).toEqual([`DELETE ${by_id}`]);
    expect([ran.out(), ran.code]).toEqual([deleted, 0]);
  });

  test("an empty list prints a note", async () => {
    const ran = await tenantctl([noun, "list", ...scope], {
      env: TOKEN_ENV,
      server: serving({ [`GET ${path}`]: { items: [] } }),
    });
    expect(ran.out()).toMatch(/^\(no [A-Za-z ]+s\)\n$/);
  });

  test("a UUID in upper case selects the same record", async () => {
    expect(requestsOf(await run("show", record.id.toUpperCase()))).toEqual([`GET ${by_id}`]);
  });
});

const NAT_CREATED = `Created NAT gateway ${NAT_GATEWAY.id}\nname:            egress\nvpc:             ${VPC.id}\n` +
  `public_address:  203.0.113.2\n`;
const RULE = ["--name", "http", "--action", "allow", "--priority", "100"];

test.each([
  {
    argv: ["vpc", "create", "--name", "web", "--project", PROJECT, "--ipv4-block", "10.0.0.0/16"],
    asks: `POST /v1/vpcs?${IN_PROJECT}`,
    body: { name: "web", ipv4_block: "10.0.0.0/16" },
    answer: VPC,
  },
  {
    argv: ["vpc", "create", "--name", "web", "--project", PROJECT, "--ipv6-block", "fd00::/48", "--description", "d"],
    asks: `POST /v1/vpcs?${IN_PROJECT}`,
    body: { name: "web", description: "d", ipv6_block: "fd00::/48" },
    answer: VPC,
  },
  {
    argv: ["subnet", "create", "--vpc", VPC.id, "--name", "dmz", "--ipv4-block", "10.0.1.0/24"],
    asks: `POST /v1/subnets?vpc=${VPC.id}`,
    body: { name: "dmz", ipv4_block: "10.0.1.0/24" },
    answer: SUBNET,
  },
  ...[[[], "v4"], [["--family", "V6"], "v6"], [["--family", "ipv6"], "v6"], [["--family", "IPv4"], "v4"]].map((
    [family, sent],
  ) => ({
    argv: ["nat-gateway", "create", "--vpc", VPC.id, "--name", "egress", ...family!],
    asks: `POST /v1/nat-gateways?vpc=${VPC.id}`,
    body: { name: "egress", family: sent },
    answer: NAT_GATEWAY,
    prints: NAT_CREATED,
  })),
  ...[["--network", "network_id"], ["--pool", "pool_id"]].flatMap(([flag = "", field = ""]) => [
    {
      argv: ["nat-gateway", "create", "--vpc", VPC.id, "--name", "egress", "--family", "ipv6", flag, SUBNET.id],
      asks: `POST /v1/nat-gateways?vpc=${VPC.id}`,
      body: { name: "egress", family: "v6", [field]: SUBNET.id },
      answer: { ...NAT_GATEWAY, network_id: SUBNET.id },
      prints: `${NAT_CREATED}network:         ${SUBNET.id}\n`,
    },
    {
      argv: ["nat-gateway", "create", "--vpc", VPC.id, "--name", "egress", flag, SUBNET.id],
      asks: `POST /v1/nat-gateways?vpc=${VPC.id}`,
      body: { name: "egress", [field]: SUBNET.id },
      answer: { ...NAT_GATEWAY, network_id: SUBNET.id },
      prints: `${NAT_CREATED}network:         ${SUBNET.id}\n`,
    },
    {
      argv: ["floating-ip", "create", "--project", PROJECT, "--name", "www", flag, SUBNET.id],
      asks: `POST /v1/floating-ips?${IN_PROJECT}`,
      body: { name: "www", [field]: SUBNET.id },
      answer: FLOATING_IP,
    },
  ]),
  ...[[[], "v4"], [["--family", "ipv6"], "v6"], [["--family", "v4"], "v4"]].map(([family, sent]) => ({
    argv: ["floating-ip", "create", "--project", PROJECT, "--name", "www", ...family!],
    asks: `POST /v1/floating-ips?${IN_PROJECT}`,
    body: { name: "www", family: sent },
    answer: FLOATING_IP,
  })),
  {
    argv: ["route-table", "create", "--vpc", VPC.id, "--name", "t2", "--description", "second"],
    asks: `POST /v1/route-tables?vpc=${VPC.id}`,
    body: { name: "t2", description: "second" },
    answer: ROUTE_TABLE,
  },
  ...[
    [["--target-nat-gateway", NAT_GATEWAY.id], { kind: "nat_gateway", nat_gateway_id: NAT_GATEWAY.id }],
    [["--target-blackhole"], { kind: "blackhole" }],
    [["--target-reject"], { kind: "reject" }],
    [["--target-virtual-gateway"], { kind: "virtual_gateway" }],
  ].map(([flags, target]) => ({
    argv: [
      ...["route", "create", "--route-table", ROUTE_TABLE.id, "--name", "r", "--destination", "0.0.0.0/0"],
      // TypeScript gives both members of a test case the same union type, so the flags need a cast.
      ...flags as string[],
    ],
    asks: `POST /v1/routes?route_table=${ROUTE_TABLE.id}`,
    body: { name: "r", destination: "0.0.0.0/0", target },
    answer: ROUTE,
  })),
  {
    argv: [
      ...["port-forward", "create", "--vpc", VPC.id, "--name", "https", "--nat-gateway", NAT_GATEWAY.id],
      ...["--port", "443", "--nic", PORT_FORWARD.nic_id],
    ],
    asks: `POST /v1/port-forwards?vpc=${VPC.id}`,
    body: { name: "https", nat_gateway_id: NAT_GATEWAY.id, nic_id: PORT_FORWARD.nic_id, public_port: 443 },
    answer: PORT_FORWARD,
  },
  {
    argv: ["firewall-rule", "create", "--vpc", VPC.id, ...RULE, "--direction", "in"],
    asks: `POST /v1/firewall-rules?vpc=${VPC.id}`,
    body: { name: "http", action: "allow", direction: "inbound", priority: 100, protocol: "any" },
    answer: FIREWALL_RULE,
  },
  {
    argv: [
      ...["firewall-rule", "create", "--vpc", VPC.id, ...RULE, "--direction", "out", "--protocol", "tcp"],
      ...["--source-cidr", "10.0.0.0/8", "--destination-cidr", "10.0.1.0/24"],
      ...["--source-ports", "1024-65535", "--destination-ports", "443", "--description", "web"],
    ],
    asks: `POST /v1/firewall-rules?vpc=${VPC.id}`,
    body: {
      name: "http",
      description: "web",
      action: "allow",
      direction: "outbound",
      priority: 100,
      protocol: "tcp",
      source_cidr: "10.0.0.0/8",
      destination_cidr: "10.0.1.0/24",
      source_ports: { low: 1_024, high: 65_535 },
      destination_ports: { low: 443, high: 443 },
    },
    answer: FIREWALL_RULE,
  },
  {
    argv: ["firewall-rule", "create", "--vpc", VPC.id, ...RULE, "--direction", "outbound", "--protocol", "icmp"],
    asks: `POST /v1/firewall-rules?vpc=${VPC.id}`,
    body: { name: "http", action: "allow", direction: "outbound", priority: 100, protocol: "icmp4" },
    answer: FIREWALL_RULE,
  },
])("`create` sends its body and prints the record: $argv", async ({ argv, asks, body, answer, ...more }) => {
  const server = () => ({ status: 201, body: answer });
  const ran = await tenantctl(argv, { env: TOKEN_ENV, server });
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran)).toEqual([asks]);
  expect(ran.asked[0]!.body).toEqual(body);
  const prints = "prints" in more ? more.prints : FAMILIES.find(({ noun }) => noun === argv[0])!.lines;
  expect(ran.out()).toBe(prints);
  expect(JSON.parse((await tenantctl([...argv, "-o", "json"], { env: TOKEN_ENV, server })).out())).toEqual(answer);
});

test.each([
  {
    argv: ["subnet", "create", "--vpc", VPC.id, "--name", "dmz", "--ipv4-block", "10.0.1.5/24"],
    path: "/v1/subnets",
    note: "note: 10.0.1.5/24 has host bits; the block of the subnet is 10.0.1.0/24\n",
  },
  {
    argv: ["vpc", "create", "--name", "web", "--project", PROJECT, "--ipv6-block", "FD00::5/48"],
    path: "/v1/vpcs",
    note: "note: FD00::5/48 has host bits; the block of the VPC is fd00::/48\n",
  },
  {
    argv: ["vpc", "create", "--name", "web", "--project", PROJECT, "--ipv6-block", "FD00:0::/48"],
    path: "/v1/vpcs",
    note: "",
  },
])(
  "only if the given block has host bits, $argv prints a note with the block that the server stores",
  async ({ argv, path, note }) => {
    const answer = path === "/v1/vpcs" ? VPC : SUBNET;
    const ran = await tenantctl(argv, { env: TOKEN_ENV, server: serving({ [`POST ${path}`]: answer }) });
    expect([ran.code, ran.err()]).toEqual([0, note]);
  },
);

test.each([
  { noun: "vpc", says: "--project is required to create a vpc" },
  { noun: "floating-ip", says: "--project is required to create a floating IP" },
])("`$noun create` without a project is rejected if the tenant has no project", async ({ noun, says }) => {
  const projects = `GET /v1/tenants/${TENANT}/projects`;
  const ran = await tenantctl([noun, "create", "--name", "x"], { env: TOKEN_ENV, server: serving({ [projects]: [] }) });
  const none = "the tenant has no project; to create one, run: tenantctl project create --name NAME";
  expect([ran.code, ran.err(), requestsOf(ran)]).toEqual([2, `error: ${says}; ${none}\n`, [projects]]);
});

const ROUTED = ["route", "create", "--route-table", ROUTE_TABLE.id, "--name", "r", "--destination", "0.0.0.0/0"];
const RULED = ["firewall-rule", "create", "--vpc", VPC.id, "--name", "r", "--action", "allow", "--direction", "in"];
const VALID_RULE = [...RULED, "--priority", "1"];

test.each([
  { argv: ["nat-gateway", "create", "--vpc", VPC.id, "--name", "x", "--family", "ipv5"], says: "--family" },
  { argv: ["floating-ip", "create", "--project", PROJECT, "--name", "x", "--family", "IPV4"], says: "--family" },
  ...["--family v4 --network x", "--family v4 --pool x", "--network x --pool x"].map((both) => ({
    argv: ["floating-ip", "create", "--project", PROJECT, "--name", "x", ...both.split(" ")],
    says: "cannot be used with option",
  })),
  {
    argv: ["nat-gateway", "create", "--vpc", VPC.id, "--name", "x", "--network", "x", "--pool", "x"],
    says: "cannot be used with option",
  },
  { argv: ROUTED, says: "pass exactly one of --target-nat-gateway" },
  { argv: [...ROUTED, "--target-reject", "--target-blackhole"], says: "pass exactly one of --target-nat-gateway" },
  {
    argv: [...RULED, "--priority", "65536"],
    says: "option '--priority <number>' argument '65536' is invalid. It must be 0 to 65535.",
  },
  { argv: [...RULED, "--priority", "-1"], says: "--priority" },
  { argv: [...VALID_RULE, "--action", "drop"], says: "--action" },
  { argv: [...VALID_RULE, "--direction", "sideways"], says: "--direction" },
  { argv: [...VALID_RULE, "--protocol", "gre"], says: "--protocol" },
  {
    argv: [...VALID_RULE, "--source-ports", "http"],
    says: "option '--source-ports <ports>' argument 'http' is invalid. It must be a port",
  },
  {
    argv: [...VALID_RULE, "--source-ports", "1-2-3"],
    says: "option '--source-ports <ports>' argument '1-2-3' is invalid. It must be a port",
  },
  {
    argv: [...VALID_RULE, "--destination-ports", "80-"],
    says: "option '--destination-ports <ports>' argument '80-' is invalid. It must be a port",
  },
  {
    argv: [...VALID_RULE, "--destination-ports", "1-65536"],
    says: "option '--destination-ports <ports>' argument '1-65536' is invalid. It must be a port",
  },
  { argv: [...VALID_RULE, "--destination-ports", "90-80"], says: "The low port is greater than the high one." },
  { argv: ["floating-ip", "attach", FLOATING_IP.id], says: "--nic" },
  { argv: ["vpc", "create", "--project", PROJECT], says: "--name" },
])("a wrong command fails before any request: $argv", async ({ argv, says }) => {
  const ran = await tenantctl(argv);
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(says);
  expect(ran.err()).toMatch(/^error: /);
  expect(ran.asked).toEqual([]);
});

test("`attach` and `detach` first read the floating IP, because they need its tenant and project", async () => {
  const by_id = `/v1/floating-ips/${FLOATING_IP.id}`;
  const nested = `/v1/tenants/${TENANT}/projects/${PROJECT}/floating-ips/${FLOATING_IP.id}`;
  const attached = { ...FLOATING_IP, attached_to: NIC };
  const server = serving({
    [`GET ${by_id}`]: FLOATING_IP,
    [`POST ${nested}/attach`]: attached,
    [`POST ${nested}/detach`]: FLOATING_IP,
  });
  const on = await tenantctl(["floating-ip", "attach", FLOATING_IP.id, "--nic", NIC], { server });
  expect(requestsOf(on)).toEqual([`GET ${by_id}`, `POST ${nested}/attach`]);
  expect(on.asked[1]!.body).toEqual({ nic_id: NIC });
  expect(on.out()).toBe(`Floating IP ${FLOATING_IP.id} attached to NIC ${NIC} (address 203.0.113.3)\n`);
  const off = await tenantctl(["floating-ip", "detach", FLOATING_IP.id], { server });
  expect(requestsOf(off)).toEqual([`GET ${by_id}`, `POST ${nested}/detach`]);
  expect(off.asked[1]!.body).toBeUndefined();
  expect(off.out()).toBe(`Floating IP ${FLOATING_IP.id} detached (address 203.0.113.3)\n`);
  const raw = await tenantctl(["floating-ip", "attach", FLOATING_IP.id, "--nic", NIC, "-o", "json"], { server });
  expect(JSON.parse(raw.out())).toEqual(attached);
  const shown = await tenantctl(["floating-ip", "list", "--tenant", TENANT, "--project", PROJECT, "--no-headers"], {
    server: serving({ "GET /v1/floating-ips": { items: [attached] } }),
  });
  expect(shown.out()).toBe(`www   44444444  203.0.113.3  nic=${NIC}\n`);
});

test("a subnet's route table is set by UUID or by name in the VPC", async () => {
  const path = `/v1/subnets/${SUBNET.id}`;
  const other = { ...ROUTE_TABLE, id: "55555555-0000-4000-8000-000000000056", name: "second" };
  const server = serving({
    [`GET ${path}`]: SUBNET,
    "GET /v1/route-tables": { items: [ROUTE_TABLE, other] },
    [`PUT ${path}/route-table`]: { ...SUBNET, route_table_id: other.id },
  });
  const named = await tenantctl(["subnet", "set-route-table", SUBNET.id, "--route-table", "second"], { server });
  expect(requestsOf(named)).toEqual([
    `GET ${path}`,
    `GET /v1/route-tables?vpc=${VPC.id}`,
    `PUT ${path}/route-table`,
  ]);
  expect(named.asked[2]!.body).toEqual({ route_table_id: other.id });
  expect(named.out()).toBe(`Subnet ${SUBNET.id} uses route table ${other.id}\n`);
  const by_id = await tenantctl(["subnet", "set-route-table", SUBNET.id, "--route-table", other.id], { server });
  expect(requestsOf(by_id)).toEqual([`PUT ${path}/route-table`]);
});

test("a list is read page by page and printed completely", async () => {
  const second = { ...VPC, id: "11111111-0000-4000-8000-000000000012", name: "db" };
  const ran = await tenantctl(["vpc", "list", "-o", "json", "--tenant", TENANT, "--project", PROJECT], {
    server: ({ query }) => ({
      body: query.page_token === undefined ? { items: [VPC], next_page: "p2" } : { items: [second] },
    }),
  });
  expect(ran.asked.map(({ query }) => query.page_token)).toEqual([undefined, "p2"]);
  expect(JSON.parse(ran.out())).toEqual({ items: [VPC, second] });
});

test("a name from the server cannot move the terminal's cursor", async () => {
  const ran = await tenantctl(["vpc", "list", "--tenant", TENANT, "--project", PROJECT, "--columns", "name,vni"], {
    server: serving({ "GET /v1/vpcs": { items: [{ ...VPC, name: "a\u001b[2Jb" }] } }),
  });
  expect(ran.out()).toBe(`NAME       VNI\na\\x1b[2Jb  4711\n`);
});

test("`nat-gateway create --wait` says that the gateway has no node, or that not all nodes have applied the change", async () => {
  const argv = ["nat-gateway", "create", "--vpc", VPC.id, "--name", "egress", "--wait"];
  const ran = await tenantctl(argv, { server: () => ({ status: 201, body: NAT_GATEWAY }) });
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("the change is stored, but the NAT gateway has no node yet");
  const hosted = { ...NAT_GATEWAY, host_cn_uuid: NAT_GATEWAY.id };
  const late = await tenantctl(argv, { server: () => ({ status: 201, body: hosted }) });
  expect(late.err()).toContain("the change is stored, but not all nodes of the VPC have applied it");
});
