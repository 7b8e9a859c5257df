// Tests VPCs (docs/networking.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../actors/engine/engine.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import { behaviors } from "../../actors/registry.ts";
import { VNI_MAX, VNI_MIN, VNI_TRIES_MAX } from "../../src/contract/limits.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { okOf } from "../support/control-plane.ts";
import { changedRows, dumpTables } from "../support/dump.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { bad, clash, expectNameRule, type Networks, networksOf, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
beforeAll(async () => {
  n = await openNetworks();
});
afterAll(() => n.t.close());

describe("create", () => {
  test("returns the same record as GET", async () => {
    const answer = await n.tryVpc({ name: "first", description: "the first", ipv6_block: null });
    expect(answer.status).toBe(201);
    const { id, main_route_table_id, vni, created_at } = answer.body;
    expect(answer.body).toEqual({
      id,
      tenant_id: n.tenant.tenant_id,
      project_id: n.tenant.project_id,
      project: n.tenant.project_id,
      main_route_table_id,
      name: "first",
      description: "the first",
      labels: {},
      vni,
      ipv4_block: "10.0.0.0/16",
      ipv6_block: null,
      realized: null,
      created_at,
    });
    expect(vni).toBeGreaterThanOrEqual(VNI_MIN);
    expect(vni).toBeLessThanOrEqual(VNI_MAX);
    expect(await n.show(`/v1/vpcs/${id}`)).toEqual(answer.body);
  });

  test("also creates the main route table, whose description names the VPC", async () => {
    const vpc = await n.vpc({ name: "with-main" });
    const { items } = await n.show(`/v1/route-tables?vpc=${vpc.id}`);
    expect(items).toEqual([expect.objectContaining({ id: vpc.main_route_table_id, name: "main", is_main: true })]);
    expect(items[0].description).toContain("with-main");
  });

  test.each([
    [{ ipv4_block: "10.1.2.3/16", ipv6_block: null }, { ipv4_block: "10.1.0.0/16", ipv6_block: null }],
    [{ ipv4_block: null, ipv6_block: "FD00:0:0::1/48" }, { ipv4_block: null, ipv6_block: "fd00::/48" }],
    [{ ipv4_block: "128.0.0.1/3", ipv6_block: "::1.2.3.4/120" }, {
      ipv4_block: "128.0.0.0/3",
      ipv6_block: "::102:300/120",
    }],
  ])("the host bits of %j are dropped, in the reply and in later GETs", async (given, expected) => {
    const vpc = await n.vpc(given);
    expect(vpc).toMatchObject(expected);
    expect(await n.show(`/v1/vpcs/${vpc.id}`)).toMatchObject(expected);
  });

  test("blocks of two VPCs may overlap, and each VPC has its own VNI", async () => {
    const [one, two] = [await n.vpc(), await n.vpc()];
    expect(one.ipv4_block).toBe(two.ipv4_block);
    expect(one.vni).not.toBe(two.vni);
  });

  test.each([{}, { ipv4_block: null, ipv6_block: null }])("without a block (%j) is refused", async (blocks) => {
    const body = { name: "none", ...blocks };
    const answer = await n.call("POST", `/v1/vpcs${n.tenant.selectors}`, { body });
    expect(refusal(answer)).toEqual(bad("vpc must specify ipv4_block, ipv6_block, or both"));
  });

  test.each([
    [{ ipv4_block: "169.254.0.0/16" }, "ipv4_block must not be inside 169.254.0.0/16 (link-local addresses and "],
    [{ ipv4_block: "0.0.0.0/0" }, "ipv4_block must not contain every address: 0.0.0.0/0"],
    [{ ipv6_block: "fd00:ec2::254/128" }, "ipv6_block must not be inside fd00:ec2::254/128 (the metadata service): "],
    [{ ipv6_block: "fe80::/64" }, "ipv6_block must not be inside fe80::/10 (link-local addresses): fe80::/64"],
  ])("with a block that no VPC can use (%j) is refused", async (blocks, message) => {
    expect(refusal(await n.tryVpc(blocks))).toEqual(bad(expect.stringContaining(message)));
  });

  test("a duplicate name in the project is refused; in another project it is allowed", async () => {
    await n.vpc({ name: "twice" });
    expect(refusal(await n.tryVpc({ name: "twice" }))).toEqual(
      clash("a vpc named twice already exists in this project"),
    );
    await networksOf(await openTenant(n.t)).vpc({ name: "twice" });
  });

  test("names follow the name rule", async () => {
    const { id } = await n.vpc();
    await expectNameRule(n.tryVpc, (body) => n.call("PATCH", `/v1/vpcs/${id}`, { body }));
  });

  test.each(["GET", "POST"])("%s without one of the two selectors gets 400 MissingScope", async (method) => {
    for (const query of ["", `?tenant=${n.tenant.tenant_id}`, `?project=${n.tenant.project_id}`]) {
      const answer = await n.call(method, `/v1/vpcs${query}`, method === "POST" ? { body: {} } : {});
      expect(refusal(answer)).toEqual([
        400,
        "MissingScope",
        `${method} /v1/vpcs requires \`?tenant=<uuid>&project=<uuid>\` selectors`,
      ]);
    }
  });

  test("the silo selector is not accepted", async () => {
    const answer = await n.call("GET", `/v1/vpcs${n.tenant.selectors}&silo=${n.tenant.silo_id}`);
    expect([answer.status, answer.body.error_code]).toEqual([400, "ScopeNotAccepted"]);
  });

  test("a project outside the caller's tenant gets 404, with the selector of either tenant", async () => {
    const other = await openTenant(n.t);
    for (const tenant of [n.tenant.tenant_id, other.tenant_id]) {
      for (const method of ["GET", "POST"]) {
        const body = method === "POST" ? { name: "x", ipv4_block: "10.0.0.0/8" } : undefined;
        const answer = await n.call(method, `/v1/vpcs?tenant=${tenant}&project=${other.project_id}`, { body });
        expect([tenant, method, refusal(answer)]).toEqual([tenant, method, NOT_FOUND]);
      }
    }
  });

  test("one Idempotency-Key creates one VPC in each project", async () => {
    const project = `/v1/tenants/${n.tenant.tenant_id}/projects`;
    const second = okOf(await n.call("POST", project, { body: { name: "second" } }));
    const body = { name: "repeated", ipv4_block: "10.0.0.0/8" };
    const create = (project_id: string) =>
      n.call("POST", `/v1/vpcs?tenant=${n.tenant.tenant_id}&project=${project_id}`, {
        body,
        headers: { "idempotency-key": "vpc-1" },
      });
    const answers = [await create(n.tenant.project_id), await create(n.tenant.project_id), await create(second.id)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect(answers[2]!.body.project_id).toBe(second.id);
  });
});

describe("the VNI", () => {
  const VNIS = Array.from({ length: VNI_TRIES_MAX }, (_, index) => VNI_MIN + index);

  /** Sends the message of POST /v1/vpcs with these VNI candidates. A real request gets random candidates. */
  async function createWith(vnis: readonly number[]): Promise<Outcome> {
    const engine = createEngine({ store: createStore(n.t.db, behaviors), behaviors, ports: productionPorts() });
    const [id, main_route_table_id] = [randomUUID(), randomUUID()];
    const { tenant_id, project_id } = n.tenant;
    const body = { name: `vni-${id.slice(0, 8)}`, description: "", ipv4_block: "10.0.0.0/8", ipv6_block: null };
    const ids = { id, tenant_id, project_id, main_route_table_id };
    return await engine.send({ kind: "vpc", id }, { type: "create", ...ids, ...body, vnis });
  }

  async function occupy(vnis: readonly number[]): Promise<void> {
    for (const vni of vnis) {
      const { id } = await n.vpc();
      await n.t.db.query("update vpc set vni = $2 where id = $1", [id, vni]);
    }
  }

  test("is the first free candidate; if every candidate is in use, the create gets 503", async () => {
    await occupy(VNIS.slice(0, 2));
    const created = await createWith(VNIS.slice(0, 3));
    expect(created).toMatchObject({ ok: true, reply: { vni: VNIS[2] } });
    await occupy(VNIS.slice(3));
    const before = await dumpTables(n.t.db);
    const refused = await createWith(VNIS);
    expect(refused).toMatchObject({
      ok: false,
      fault: { kind: "unavailable", message: "no free VNI was found; try again" },
    });
    // The background worker also writes: it chains the audit events of the earlier requests.
    const written = ["seen", "api_key_use", "audit_event", "audit_head"];
    expect(changedRows(before, await dumpTables(n.t.db), written)).toEqual([]);
  });

  test("differs between VPCs", async () => {
    const vnis = await Promise.all([n.vpc(), n.vpc(), n.vpc()]);
    expect(new Set(vnis.map(({ vni }) => vni)).size).toBe(vnis.length);
  });
});

describe("update", () => {
  test("changes the name or the description; omitted fields do not change", async () => {
    const { id } = await n.vpc({ name: "before", description: "old" });
    const path = `/v1/vpcs/${id}`;
    expect((await n.call("PATCH", path, { body: { name: "after" } })).body).toMatchObject({
      name: "after",
      description: "old",
    });
    const described = (await n.call("PATCH", path, { body: { description: "new" } })).body;
    expect(described).toMatchObject({ name: "after", description: "new" });
    expect(await n.show(path)).toEqual(described);
  });

  test("to a name in use is refused", async () => {
    await n.vpc({ name: "taken" });
    const { id } = await n.vpc();
    expect(refusal(await n.call("PATCH", `/v1/vpcs/${id}`, { body: { name: "taken" } }))).toEqual(
      clash("a vpc named taken already exists in this project"),
    );
  });
});

describe("delete", () => {
  test("also deletes the main table and its routes, and is in the audit chain", async () => {
    const vpc = await n.vpc();
    const route = await n.route(vpc.main_route_table_id);
    expect(await n.remove(`/v1/vpcs/${vpc.id}`)).toEqual([204]);
    const paths = [`vpcs/${vpc.id}`, `route-tables/${vpc.main_route_table_id}`, `routes/${route.id}`];
    for (const path of paths) expect(refusal(await n.call("GET", `/v1/${path}`))).toEqual(NOT_FOUND);
    expect(await n.remove(`/v1/vpcs/${vpc.id}`)).toEqual(NOT_FOUND);
    const { rows } = await n.t.db.query<{ action: string }>(
      `select audit->>'action' as action from transition
        where actor_id in ($1, $2) and event in ('delete', 'vpc_deleted') order by 1`,
      [vpc.id, vpc.main_route_table_id],
    );
    expect(rows.map(({ action }) => action)).toEqual(["route_table_delete", "vpc_delete"]);
  });

  test("is refused while a subnet, another route table or a firewall rule exists, and the refusal names these objects", async () => {
    const { id } = await n.vpc();
    const subnet = await n.subnet(id, { name: "web", ipv4_block: "10.0.1.0/24" });
    const table = await n.table(id, { name: "egress" });
    const rule = await n.rule(id, { name: "ssh" });
    const held = (what: string) => clash(`vpc ${id} still holds ${what}, which must be deleted first`);
    const path = `/v1/vpcs/${id}`;
    const [of_table, of_rule] = [`route table egress (${table.id})`, `firewall rule ssh (${rule.id})`];
    expect(await n.remove(path)).toEqual(held(`subnet web (${subnet.id}), ${of_table} and ${of_rule}`));
    expect(await n.remove(`/v1/subnets/${subnet.id}`)).toEqual([204]);
    expect(await n.remove(path)).toEqual(held(`${of_table} and ${of_rule}`));
    expect(await n.remove(`/v1/route-tables/${table.id}`)).toEqual([204]);
    expect(await n.remove(path)).toEqual(held(of_rule));
    expect(await n.remove(`/v1/firewall-rules/${rule.id}`)).toEqual([204]);
    expect(await n.remove(path)).toEqual([204]);
  });

  test("is refused with a message that names at most five objects", async () => {
    const { id } = await n.vpc();
    for (let at = 1; at <= 7; at++) await n.subnet(id, { name: `s${at}`, ipv4_block: `10.0.${at}.0/24` });
    const refused = JSON.stringify(await n.remove(`/v1/vpcs/${id}`));
    expect(refused.match(/subnet s\d/g)).toHaveLength(5);
    expect(refused).toContain(" and others, which must be deleted first");
  });

  test("frees the name", async () => {
    const { id } = await n.vpc({ name: "again" });
    expect(await n.remove(`/v1/vpcs/${id}`)).toEqual([204]);
    await n.vpc({ name: "again" });
  });
});

test("a project with a VPC is not deleted, and the refusal names the VPC", async () => {
  const other = networksOf(await openTenant(n.t));
  const { tenant_id, project_id } = other.tenant;
  const vpc = await other.vpc({ name: "kept" });
  const path = `/v1/tenants/${tenant_id}/projects/${project_id}`;
  const message = `project ${project_id} still holds vpc kept (${vpc.id}), which must be deleted first`;
  expect(await other.remove(path)).toEqual(clash(message));
  expect(await other.remove(`/v1/vpcs/${vpc.id}`)).toEqual([204]);
  expect(await other.remove(path)).toEqual([204]);
});

describe("the database itself", () => {
  test("refuses a record whose tenant or project differs from its VPC", async () => {
    const vpc = await n.vpc();
    await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
    await n.route(vpc.main_route_table_id);
    await n.rule(vpc.id);
    const other = await openTenant(n.t);
    const move = (table: string, tenant_id: string) =>
      n.t.db.query(
        `update ${table} set tenant_id = $2, project_id = $3 where ${table === "vpc" ? "id" : "vpc_id"} = $1`,
        [vpc.id, tenant_id, other.project_id],
      );
    for (const table of ["vpc", "route_table", "subnet", "route", "firewall_rule"]) {
      for (const tenant_id of [other.tenant_id, n.tenant.tenant_id]) {
        await expect(move(table, tenant_id)).rejects.toMatchObject({ code: "23503" });
      }
    }
  });

  test("refuses a second main table, a main table of another VPC, and a VNI that is in use or reserved", async () => {
    const [one, two] = [await n.vpc(), await n.vpc()];
    const table = await n.table(one.id);
    const set = (id: string, change: string) => n.t.db.query(`update vpc set ${change} where id = $1`, [id]);
    await expect(n.t.db.query("update route_table set is_main = true, name = 'main' where id = $1", [table.id]))
      .rejects.toMatchObject({ code: "23505" });
    await expect(set(one.id, `main_route_table_id = '${two.main_route_table_id}'`)).rejects.toMatchObject({
      constraint: "vpc_main_route_table_fkey",
    });
    await expect(set(one.id, `vni = ${two.vni}`)).rejects.toMatchObject({ constraint: "vpc_vni" });
    await expect(set(one.id, `vni = ${VNI_MIN - 1}`)).rejects.toMatchObject({ code: "23514" });
  });
});
