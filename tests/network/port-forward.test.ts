// Tests port forwards of NAT gateways (docs/networking.md, "Port forwards").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PORT_FORWARDS_MAX } from "../../src/contract/limits.ts";
import { okOf } from "../support/control-plane.ts";
import { asWritten, networksOf } from "./networks.ts";
import { type NetworkFixture, openNetworkFixture } from "./network-fixture.ts";
import { conflictWith, makeGateway, notFound } from "./public-addresses.ts";

let f: NetworkFixture;
let gateway: { readonly id: string; readonly public_address: string };
beforeAll(async () => {
  f = await openNetworkFixture();
  gateway = okOf(await makeGateway(f.tenant, f.vpc.id));
});
afterAll(() => f.t.close());

const forward = (fields: object = {}, vpc = f.vpc.id) =>
  f.call("POST", `/v1/port-forwards?vpc=${vpc}`, {
    body: { name: randomUUID(), nat_gateway_id: gateway.id, nic_id: f.web.nic.id, public_port: 443, ...fields },
  });
const path = (id: string) => `/v1/port-forwards/${id}`;

test("a forward without protocol and NIC port uses tcp and the number of the public port; its creation and deletion are audited", async () => {
  const made = okOf(await forward({ name: "https" }));
  expect(made).toEqual({
    id: made.id,
    tenant_id: f.tenant.tenant_id,
    project_id: f.tenant.project_id,
    project: f.tenant.project_id,
    vpc_id: f.vpc.id,
    vpc: f.vpc.id,
    name: "https",
    description: "",
    labels: {},
    nat_gateway_id: gateway.id,
    nic_id: f.web.nic.id,
    protocol: "tcp",
    public_port: 443,
    nic_port: 443,
    realized: null,
    created_at: expect.any(String),
  });
  expect(asWritten(okOf(await f.call("GET", path(made.id))))).toEqual(made);
  expect(okOf(await f.call("GET", `/v1/port-forwards?vpc=${f.vpc.id}`)).items.map(asWritten)).toEqual([made]);
  okOf(await f.call("DELETE", path(made.id)));
  notFound(await f.call("GET", path(made.id)));
  const { events } = okOf(await f.t.call("GET", "/v1/audit/events?limit=1000"));
  const noted = events.filter(({ resource }: { resource: string | null }) => resource === `PortForward::"${made.id}"`);
  expect(noted.map(({ action }: { action: string }) => action)).toEqual(["port_forward_create", "port_forward_delete"]);
  expect(noted[0].payload).toMatchObject({ name: "https", public_port: 443, nic_id: f.web.nic.id });
});

test("ids in upper case mean the same gateway and NIC, and the answer has them in lower case", async () => {
  const upper = { nat_gateway_id: gateway.id.toUpperCase(), nic_id: f.web.nic.id.toUpperCase() };
  const made = okOf(await forward({ name: "upper", ...upper }));
  expect(made).toMatchObject({ nat_gateway_id: gateway.id, nic_id: f.web.nic.id });
  expect(asWritten(okOf(await f.call("GET", path(made.id))))).toEqual(made);
  okOf(await f.call("DELETE", path(made.id)));
});

test("a gateway forwards a port of a protocol only once, and a name is unique in the VPC", async () => {
  const first = okOf(await forward({ name: "once" }));
  conflictWith(await forward(), "the nat gateway already forwards tcp port 443");
  conflictWith(
    await forward({ name: "once", public_port: 80 }),
    "a port forward named once already exists in this vpc",
  );
  const udp = okOf(await forward({ protocol: "udp" }));
  for (const { id } of [first, udp]) okOf(await f.call("DELETE", path(id)));
});

test("the gateway must be in the VPC, and the NIC needs an address of the gateway's family; another tenant's gateway gets 404", async () => {
  notFound(await forward({ nat_gateway_id: randomUUID() }));
  notFound(await forward({ nic_id: randomUUID() }));
  const other = await f.otherTenant();
  notFound(
    await f.t.call("POST", `/v1/port-forwards?vpc=${other.vpc.id}`, {
      body: { name: "x", nat_gateway_id: gateway.id, nic_id: f.web.nic.id, public_port: 1 },
    }),
  );
  const vpc = await f.n.vpc();
  const elsewhere = okOf(await makeGateway(f.tenant, vpc.id));
  const refused = await forward({ nat_gateway_id: elsewhere.id });
  expect(refused).toMatchObject({
    status: 400,
    body: { message: `nat gateway ${elsewhere.id} is not in vpc ${f.vpc.id}` },
  });
  const narrow = await networksOf(f.tenant).subnet(f.vpc.id, { ipv4_block: "10.0.200.0/24" });
  const { nic } = await f.placed(f.one, "narrow", { primary_subnet_id: narrow.id });
  const v6 = okOf(await makeGateway(f.tenant, f.vpc.id, { family: "v6" }));
  conflictWith(
    await forward({ nat_gateway_id: v6.id, nic_id: nic.id }),
    `nic ${nic.id} has no v6 address, but nat gateway ${v6.id} has one`,
  );
  for (const { id } of [v6, elsewhere]) okOf(await f.call("DELETE", `/v1/nat-gateways/${id}`));
});

test.each([0, 65_536, 1.5, "443"])("public_port %j gets 400", async (public_port) => {
  const answer = await forward({ public_port });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(/^body\.public_port/);
});

test("a gateway with forwards cannot be deleted, and a gateway has at most PORT_FORWARDS_MAX forwards", async () => {
  const own = okOf(await makeGateway(f.tenant, f.vpc.id));
  const { id } = okOf(await forward({ nat_gateway_id: own.id }));
  conflictWith(await f.call("DELETE", `/v1/nat-gateways/${own.id}`), `nat gateway ${own.id} still has port forwards`);
  await f.t.db.query(
    `insert into port_forward (id, incarnation, version, state, tenant_id, project_id, vpc_id, nat_gateway_id, nic_id, name,
                               description, protocol, public_port, nic_port, created_at)
     select gen_random_uuid(), gen_random_uuid(), 1, 'live', tenant_id, project_id, vpc_id, nat_gateway_id, nic_id,
            name || n, '', protocol, 1000 + n, nic_port, created_at
       from port_forward, generate_series(2, $2) n where id = $1`,
    [id, PORT_FORWARDS_MAX],
  );
  conflictWith(
    await forward({ nat_gateway_id: own.id, public_port: 80 }),
    `nat gateway ${own.id} already has ${PORT_FORWARDS_MAX} port forwards`,
  );
  await f.t.db.query("delete from port_forward where nat_gateway_id = $1", [own.id]);
  okOf(await f.call("DELETE", `/v1/nat-gateways/${own.id}`));
});

test("the node of the gateway gets the forwards with the NIC's address, and a forward is deleted with the NIC's instance", async () => {
  await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } });
  const tags = [{ name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-ext" }];
  okOf(await f.t.call("POST", `/v1/cns/${f.two.server_uuid}/role`, { body: { role: "both" } }));
  okOf(await f.two.call("POST", "/v1/agent/nic-tags", { nic_tags: tags }));
  const body = { name: "isp", nic_tag: "external", ipv4_block: "203.0.113.0/24" };
  okOf(await f.t.call("POST", "/v1/system/external-subnets", { body }));
  const brief = await f.placed(f.one, "brief");
  const made = okOf(await forward({ nic_id: brief.nic.id, public_port: 8_443, nic_port: 443 }));
  const documented = async () => {
    await f.t.plane.pass();
    return (await f.poll(f.two)).vpcs[0]?.nat_gateways;
  };
  const forwards = [{ protocol: "tcp", public_port: 8_443, address: brief.nic.primary_ipv4, port: 443 }];
  const { id: nat_gateway_id, public_address } = gateway;
  await expect.poll(documented, { timeout: 10_000 }).toEqual([{
    nat_gateway_id,
    public_address,
    port_forwards: forwards,
  }]);
  await f.removed(brief);
  expect(await documented()).toEqual([{ nat_gateway_id, public_address, port_forwards: [] }]);
  notFound(await f.call("GET", path(made.id)));
});
