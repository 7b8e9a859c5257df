// Tests firewall rules (docs/networking.md, "Firewall rules").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bad, clash, expectNameRule, type Networks, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
let vpc: string;
beforeAll(async () => {
  n = await openNetworks();
  vpc = (await n.vpc()).id;
});
afterAll(() => n.t.close());

test("a rule with only the required fields applies to any protocol and any address", async () => {
  const rule = await n.rule(vpc, { name: "least", priority: 0, direction: "outbound", action: "deny" });
  expect(rule).toEqual({
    id: rule.id,
    tenant_id: n.tenant.tenant_id,
    project_id: n.tenant.project_id,
    project: n.tenant.project_id,
    vpc_id: vpc,
    vpc,
    name: "least",
    description: "",
    labels: {},
    priority: 0,
    direction: "outbound",
    action: "deny",
    protocol: "any",
    source_cidr: null,
    destination_cidr: null,
    source_ports: null,
    destination_ports: null,
    icmp_type_code: null,
    counts: null,
    realized: null,
    created_at: rule.created_at,
  });
  expect(await n.show(`/v1/firewall-rules/${rule.id}`)).toEqual(rule);
});

test.each([
  {
    protocol: "tcp",
    priority: 65_535,
    source_ports: { low: 0, high: 65_535 },
    destination_ports: { low: 22, high: 22 },
  },
  { protocol: "udp", destination_ports: { low: 53, high: 53 } },
  { protocol: "icmp4", icmp_type_code: { type: 8, code: 0 } },
  { protocol: "icmp6", icmp_type_code: { type: 255, code: 255 } },
  { protocol: "icmp4" },
  { protocol: "any", source_cidr: "2001:db8::/32", destination_cidr: "fd00:10::/48" },
])("a rule with %j is accepted, and GET shows the same record as the reply", async (fields) => {
  const rule = await n.rule(vpc, fields);
  expect(rule).toMatchObject(fields);
  expect(await n.show(`/v1/firewall-rules/${rule.id}`)).toEqual(rule);
});

test("the host bits of a rule's networks are dropped", async () => {
  const rule = await n.rule(vpc, { source_cidr: "10.1.2.3/8", destination_cidr: "10.0.1.5/24" });
  expect(rule).toMatchObject({ source_cidr: "10.0.0.0/8", destination_cidr: "10.0.1.0/24" });
});

describe("refusals", () => {
  const ports = { low: 1, high: 2 };

  test.each([
    [{ source_ports: ports }, "source_ports needs the protocol tcp or udp, not any"],
    [{ protocol: "icmp4", source_ports: ports }, "source_ports needs the protocol tcp or udp, not icmp4"],
    [{ protocol: "icmp6", destination_ports: ports }, "destination_ports needs the protocol tcp or udp, not icmp6"],
    [{ protocol: "tcp", source_ports: { low: 2, high: 1 } }, "source_ports: low 2 is above high 1"],
    [{ protocol: "udp", destination_ports: { low: 65_535, high: 0 } }, "destination_ports: low 65535 is above high 0"],
    [{ icmp_type_code: { type: 8, code: 0 } }, "icmp_type_code needs the protocol icmp4 or icmp6, not any"],
    [
      { protocol: "tcp", icmp_type_code: { type: 8, code: 0 } },
      "icmp_type_code needs the protocol icmp4 or icmp6, not tcp",
    ],
    [
      { source_cidr: "10.0.0.0/8", destination_cidr: "fd00::/8" },
      "source_cidr and destination_cidr must both be IPv4 or both be IPv6",
    ],
    [
      { source_cidr: "::ffff:10.0.0.0/104" },
      "source_cidr ::ffff:10.0.0.0/104 is not an IPv4 or IPv6 network; use for example 10.0.0.0/24",
    ],
    [
      { destination_cidr: "::ffff:10.0.0.0/104" },
      "destination_cidr ::ffff:10.0.0.0/104 is not an IPv4 or IPv6 network; use for example 10.0.0.0/24",
    ],
  ])("%j gets 400", async (fields, message) => {
    expect(refusal(await n.tryRule(vpc, fields))).toEqual(bad(message));
  });

  test.each([
    ["priority", { priority: 65_536 }],
    ["priority", { priority: -1 }],
    ["direction", { direction: "in" }],
    ["action", { action: "drop" }],
    ["protocol", { protocol: "icmp" }],
    ["source_ports", { protocol: "tcp", source_ports: { low: 1 } }],
    ["destination_ports", { protocol: "tcp", destination_ports: { low: 0, high: 65_536 } }],
    ["icmp_type_code", { protocol: "icmp4", icmp_type_code: { type: 8 } }],
    ["icmp_type_code", { protocol: "icmp4", icmp_type_code: { type: 256, code: 0 } }],
    ["source_cidr", { source_cidr: "10.0.0.1" }],
  ])("a bad %s (%j) gets a 400 that names the field", async (field, fields) => {
    const answer = await n.tryRule(vpc, fields);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(field)]);
  });

  test.each(["source_cidr", "destination_cidr"])(
    "a %s of an IP version without a block in the VPC gets 409",
    async (field) => {
      const v4 = await n.vpc({ ipv6_block: null });
      expect(refusal(await n.tryRule(v4.id, { [field]: "fd00::/8" }))).toEqual(
        clash("fd00::/8 is IPv6, and the vpc has no ipv6_block"),
      );
    },
  );

  test("a duplicate name in the VPC gets 409, and so does a rename to a name in use", async () => {
    await n.rule(vpc, { name: "twice" });
    const taken = clash("a firewall rule named twice already exists in this vpc");
    expect(refusal(await n.tryRule(vpc, { name: "twice" }))).toEqual(taken);
    const { id } = await n.rule(vpc);
    expect(refusal(await n.call("PATCH", `/v1/firewall-rules/${id}`, { body: { name: "twice" } }))).toEqual(taken);
  });

  test("a name that breaks the name rule gets 409", async () => {
    const { id } = await n.rule(vpc);
    await expectNameRule(
      (fields) => n.tryRule(vpc, fields),
      (body) => n.call("PATCH", `/v1/firewall-rules/${id}`, { body }),
    );
  });

  test.each(["GET", "POST"])("%s without a VPC gets 400 MissingScope", async (method) => {
    const answer = await n.call(method, "/v1/firewall-rules", method === "POST" ? { body: {} } : {});
    expect(refusal(answer)).toEqual([400, "MissingScope", `${method} /v1/firewall-rules requires \`?vpc=<uuid>\``]);
  });
});

test("an update of the description changes nothing else; a rule can be deleted only once", async () => {
  const fields = { protocol: "tcp", source_cidr: "10.0.0.0/8", destination_ports: { low: 22, high: 23 } };
  const rule = await n.rule(vpc, fields);
  const path = `/v1/firewall-rules/${rule.id}`;
  const patched = await n.call("PATCH", path, { body: { description: "ssh" } });
  expect(patched.body).toEqual({ ...rule, description: "ssh" });
  expect(await n.show(path)).toEqual(patched.body);
  expect(await n.remove(path)).toEqual([204]);
  expect(await n.remove(path)).toEqual(NOT_FOUND);
});

describe("a change of a rule", () => {
  const patch = (id: string, body: object) => n.call("PATCH", `/v1/firewall-rules/${id}`, { body });
  const generation = async () => (await n.call("GET", `/v1/vpcs/${vpc}`)).body.realized.desired_generation;

  test("keeps the id and the other fields, and creates a new generation of the network document", async () => {
    const rule = await n.rule(vpc, { protocol: "tcp", destination_ports: { low: 22, high: 22 } });
    const before = await generation();
    const changed = await patch(rule.id, { action: "deny", priority: 7, source_cidr: "10.1.2.3/8" });
    expect(changed.body).toEqual({ ...rule, action: "deny", priority: 7, source_cidr: "10.0.0.0/8" });
    expect(await n.show(`/v1/firewall-rules/${rule.id}`)).toEqual(changed.body);
    expect(await generation()).toBe(before + 1);
  });

  test("that affects only the description creates no new generation", async () => {
    const { id } = await n.rule(vpc);
    const before = await generation();
    expect((await patch(id, { description: "ssh", priority: null })).status).toBe(200);
    expect(await generation()).toBe(before);
  });

  test("removes a condition whose field is null", async () => {
    const rule = await n.rule(vpc, {
      protocol: "tcp",
      destination_ports: { low: 1, high: 2 },
      source_cidr: "10.0.0.0/8",
    });
    const changed = await patch(rule.id, { protocol: "icmp4", destination_ports: null });
    expect(changed.body).toEqual({ ...rule, protocol: "icmp4", destination_ports: null });
  });

  test("must leave a valid rule, and a refusal changes nothing", async () => {
    const v4 = await n.vpc({ ipv6_block: null });
    const rule = await n.rule(v4.id, { protocol: "tcp", destination_ports: { low: 1, high: 2 } });
    expect(refusal(await patch(rule.id, { protocol: "icmp4" }))).toEqual(
      bad("destination_ports needs the protocol tcp or udp, not icmp4"),
    );
    expect(refusal(await patch(rule.id, { source_cidr: "fd00::/8" }))).toEqual(
      clash("fd00::/8 is IPv6, and the vpc has no ipv6_block"),
    );
    expect((await patch(rule.id, { vpc: v4.id })).status).toBe(400);
    expect(await n.show(`/v1/firewall-rules/${rule.id}`)).toEqual(rule);
  });
});
