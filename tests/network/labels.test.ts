// Tests the labels of tenants' objects (docs/networking.md, "Labels").
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { newPublicKey } from "../compute/public-key.ts";
import { okOf } from "../support/control-plane.ts";

let a: ComputeFixture;
const at: Record<string, string> = {};
beforeAll(async () => {
  a = await openComputeFixture();
  const { id } = await a.running();
  const [nic] = await a.nicsOf(id);
  const gateway = await a.make(`/v1/nat-gateways?vpc=${a.vpc.id}`, { name: "out", family: "v4" });
  Object.assign(at, { gateway: gateway.id, nic: nic.id, table: a.vpc.main_route_table_id });
});
afterAll(() => a.t.close());

/** An object has the path `path`/ID. `list` is the path of the list and of the create. Default: `path`. */
type Kind = {
  readonly path: string | (() => string);
  readonly list?: () => string;
  readonly query: () => string;
  readonly body: () => object;
};
const ofVpc = () => `?vpc=${a.vpc.id}`;
const KINDS: Readonly<Record<string, Kind>> = {
  vpc: { path: "/v1/vpcs", query: () => a.selectors, body: () => ({ ipv4_block: "10.9.0.0/16" }) },
  subnet: { path: "/v1/subnets", query: ofVpc, body: () => ({ ipv4_block: "10.0.77.0/24" }) },
  "route table": { path: "/v1/route-tables", query: ofVpc, body: () => ({}) },
  route: {
    path: "/v1/routes",
    query: () => `?route_table=${at["table"]}`,
    body: () => ({ destination: "192.0.2.0/24", target: { kind: "blackhole" } }),
  },
  "NAT gateway": { path: "/v1/nat-gateways", query: ofVpc, body: () => ({ family: "v6" }) },
  "firewall rule": {
    path: "/v1/firewall-rules",
    query: ofVpc,
    body: () => ({ priority: 5, direction: "inbound", action: "allow" }),
  },
  "floating IP": { path: "/v1/floating-ips", query: () => a.selectors, body: () => ({ family: "v4" }) },
  project: { path: () => `/v1/tenants/${a.tenant.tenant_id}/projects`, query: () => "", body: () => ({}) },
  image: {
    path: "/v1/images",
    list: () => `/v1/tenants/${a.tenant.tenant_id}/images`,
    query: () => "",
    body: () => ({ os: "debian", version: "13", size_bytes: 1, sha256: randomBytes(32).toString("hex") }),
  },
  "SSH key": {
    path: "/v1/ssh-keys",
    list: () => `/v1/tenants/${a.tenant.tenant_id}/ssh-keys`,
    query: () => "",
    body: () => ({ public_key: newPublicKey() }),
  },
  webhook: { path: "/v1/webhooks", query: () => a.selectors, body: () => ({ url: "https://192.0.2.1/" }) },
  "port forward": {
    path: "/v1/port-forwards",
    query: ofVpc,
    body: () => ({ nat_gateway_id: at["gateway"], nic_id: at["nic"], public_port: 443 }),
  },
};

describe.each(Object.entries(KINDS))("a %s", (_noun, { path: given, list, query, body }) => {
  const path = () => typeof given === "string" ? given : given();
  const owner = () => list?.() ?? path();
  const listed = async (label: string): Promise<string[]> => {
    const separator = query() === "" ? "?" : "&";
    const found = okOf(await a.call("GET", `${owner()}${query()}${separator}label=${encodeURIComponent(label)}`));
    return (found.items ?? found).map((each: { id: string }) => each.id);
  };

  test("has labels, keeps the labels that a change does not name, and can be found by label in the list", async () => {
    const named = (labels?: object) => ({ name: randomUUID(), ...body(), ...labels !== undefined && { labels } });
    const made = okOf(await a.call("POST", owner() + query(), { body: named({ env: "test", tier: "web" }) }));
    expect(made.labels).toEqual({ env: "test", tier: "web" });
    const change = (fields: object) => a.call("PATCH", `${path()}/${made.id}`, { body: fields });
    const changed = okOf(await change({ labels: { tier: null, team: "a" } }));
    expect(changed).toMatchObject({ name: made.name, labels: { env: "test", team: "a" } });
    expect(okOf(await change({ description: "kept labels" })).labels).toEqual({ env: "test", team: "a" });
    expect(okOf(await a.call("GET", `${path()}/${made.id}`)).labels).toEqual({ env: "test", team: "a" });
    expect(await listed("env=test,team")).toEqual([made.id]);
    expect(await listed("env=live")).toEqual([]);
    expect(await listed("tier")).toEqual([]);

    const refused = await change({ labels: { "Not A Key": "x" } });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("labels")]);
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`key-${n}`, ""]));
    const full = await change({ name: "renamed", labels: many });
    expect([full.status, full.body.message]).toEqual([400, "labels: an object has at most 32 labels, not 35"]);
    expect(okOf(await a.call("GET", `${path()}/${made.id}`))).toMatchObject({
      name: made.name,
      labels: { env: "test" },
    });
    expect((await a.call("POST", owner() + query(), { body: named(many) })).status).toBe(400);
    expect((await a.call("DELETE", `${path()}/${made.id}`)).status).toBe(204);
  });
});
