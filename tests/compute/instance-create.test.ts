// Tests the creation of instances: the new records, the rollback, and requests that do not wait or are repeated
// (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

describe("a create request", () => {
  test("returns the running instance with every field, its addresses and its disk, after three commits", async () => {
    const answer = a.create({ name: "web", description: "d" });
    const job = await a.node.take();
    expect(job.kind).toMatchObject({ kind: "provision" });
    const instance_id = String(job.kind["instance_id"]);
    expect((await a.show(instance_id)).lifecycle).toEqual({ state: "provisioning" });
    await a.node.complete(job);
    const made = await answer;
    expect(made.status).toBe(201);
    const { rows } = await a.t.db.query(
      `select array_agg(actor_kind || ' ' || event order by actor_kind) as events from transition
        where actor_id = any($1) group by xid order by xid`,
      [[instance_id, job.id, job.operation_id]],
    );
    expect(rows.map(({ events }) => events)).toEqual([
      ["instance create", "job enqueue", "saga start"],
      ["instance job_claimed", "job claim"],
      ["instance settle", "job complete", "saga job_ended"],
    ]);
    const { id, created_at, updated_at } = made.body;
    expect(made.body).toEqual({
      id: instance_id,
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      name: "web",
      description: "d",
      labels: {},
      deletion_protection: false,
      placement_group_id: null,
      brand: "kvm",
      cpu: 2,
      memory_bytes: 4 * GIB,
      image_id: a.image.id,
      primary_subnet_id: a.subnet.id,
      ssh_key_ids: [],
      host_cn_uuid: a.node.server_uuid,
      host_live: true,
      found_on_host: true,
      lifecycle: { state: "running" },
      created_at,
      updated_at,
    });
    expect(await a.show(id)).toEqual({ ...made.body, guest_interfaces: null });
    const [nic] = await a.nicsOf(id);
    expect(nic).toEqual({
      id: nic.id,
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      instance_id: id,
      vpc_id: a.vpc.id,
      subnet_id: a.subnet.id,
      name: "primary",
      labels: {},
      mac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/),
      primary_ipv4: "10.0.1.2",
      primary_ipv6: "fd00:10:0:1::2",
      additional_ips: [],
      allowed_cidrs: [],
      floating_ips: [],
      realized: expect.objectContaining({ realizations: expect.any(Array) }),
      created_at,
    });
    expect(await a.disksOf(id)).toEqual([{
      id: expect.any(String),
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      instance: id,
      instance_id: id,
      name: "boot",
      labels: {},
      description: "",
      kind: "boot",
      size_bytes: 2 * GIB,
      applied_bytes: 2 * GIB,
      attached: true,
      source_image_id: a.image.id,
      created_at,
    }]);
    await a.destroy(id);
  });

  test("leaves no rows after its instance is deleted", async () => {
    const before = await a.dump();
    const { id } = await a.running({
      user_data: "#cloud-config\n",
      extra_nics: [{ subnet_id: a.subnet.id, name: "b" }],
    });
    expect(await a.left(before)).not.toEqual([]);
    await a.destroy(id);
    notFound(await a.call("GET", `/v1/instances/${id}`));
    expect(await a.left(before)).toEqual([]);
  });

  test("whose node fails the job is rolled back with the node's reason, and the address of the instance is free again", async () => {
    const before = await a.dump();
    const answer = a.create();
    const job = await a.node.take();
    const [nic] = await a.nicsOf(String(job.kind["instance_id"]));
    await a.node.fail(job, "the image is broken");
    expectRefused(await answer, 502, "ProvisionFailed", "provisioning failed: the image is broken");
    expect(await a.left(before)).toEqual([]);
    const again = await a.running();
    expect((await a.nicsOf(again.id))[0].primary_ipv4).toBe(nic.primary_ipv4);
    await a.destroy(again.id);
  });

  test("whose job the node does not claim is rolled back at its time limit", async () => {
    const before = await a.dump();
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    const answer = await a.create();
    expectRefused(
      answer,
      502,
      "ProvisionFailed",
      "provisioning failed: step provision got no report within its time limit",
    );
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    expect(await a.left(before)).toEqual([]);
    expect(await a.node.ask()).toEqual({ job: null, tombstones: [] });
  });

  test("that times out after the node claimed its job keeps the instance's record until the node has undone the job", async () => {
    const before = await a.dump();
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    const answer = a.create();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    const refused = await answer;
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    expect(refused.status).toBe(502);
    expect(refused.body.message).toMatch(/^provisioning failed: .*; operation [0-9a-f-]{36} is unwinding$/);
    expect((await a.show(id)).lifecycle).toEqual({
      state: "failed",
      reason: "step provision got no report within its time limit",
    });
    expect(await a.nicsOf(id)).toHaveLength(1);
    conflictWith(
      await a.call("DELETE", `/v1/instances/${id}`),
      `operation ${
        (await a.operation(id, "instance-create")).id
      } (create) still runs on instance ${id}; wait for it to end`,
    );
    const { job: next, tombstones } = await a.node.ask();
    expect([next, tombstones.map((each) => each.id)]).toEqual([null, [job.id]]);
    await a.node.bury(job);
    expect((await a.ended(id, "instance-create")).state).toBe("unwound");
    expect(await a.left(before)).toEqual([]);
  });

  test("continues if its caller disconnects", async () => {
    const gone = new AbortController();
    const answer = a.create({}, { signal: gone.signal });
    const job = await a.node.take();
    gone.abort();
    await answer.catch(() => {});
    await a.node.complete(job);
    const id = String(job.kind["instance_id"]);
    expect((await a.ended(id, "instance-create")).state).toBe("succeeded");
    expect((await a.show(id)).lifecycle).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("with Prefer: respond-async returns 202 with the operation at once", async () => {
    const answer = await a.create({}, { headers: { prefer: "respond-async, wait=10" } });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe(`/v1/operations/${answer.body.id}`);
    expect(answer.headers.get("preference-applied")).toBe("respond-async");
    expect(answer.body).toMatchObject({ kind: "instance-create", state: "running" });
    const job = await a.node.does("provision");
    const id = String(job.kind["instance_id"]);
    expect((await a.ended(id, "instance-create")).state).toBe("succeeded");
    await a.destroy(id);
  });

  test("that is repeated with its Idempotency-Key gets 409 while the first request runs, and later gets the first request's answer", async () => {
    const body = a.bodyOf();
    const headers = { "idempotency-key": randomUUID() };
    const send = () => a.call("POST", `/v1/instances${a.selectors}`, { body, headers });
    const first = send();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    const meanwhile = await send();
    const operation = (await a.operations(id))[0].id;
    conflictWith(meanwhile, `the request with this Idempotency-Key still runs as operation ${operation}`);
    expect(Number(meanwhile.headers.get("retry-after"))).toBeGreaterThan(0);
    await a.node.complete(job);
    const answered = await first;
    expect(answered.status).toBe(201);
    const again = await send();
    expect([again.status, again.body]).toEqual([201, answered.body]);
    await a.destroy(id);
    expect((await send()).body).toEqual(answered.body);
    const other = await a.call("POST", `/v1/instances${a.selectors}`, { body: a.bodyOf(), headers });
    expect(other.status).toBe(422);
  });

  test("accepts several NICs with subnets and names, and a MAC for the primary NIC", async () => {
    const second = await a.make(`/v1/subnets?vpc=${a.vpc.id}`, { name: randomUUID(), ipv4_block: "10.0.2.0/24" });
    const { id } = await a.running({
      mac: "02-AA-BB.CC DD:0F",
      extra_nics: [{ subnet_id: second.id, name: "back" }, { subnet_id: a.subnet.id, name: "side" }],
    });
    const nics = (await a.nicsOf(id)).map((
      nic: Record<string, unknown>,
    ) => [nic.name, nic.subnet_id, nic.primary_ipv6]);
    expect(new Set(nics.map(String))).toEqual(
      new Set([
        ["primary", a.subnet.id, "fd00:10:0:1::2"],
        ["back", second.id, null],
        ["side", a.subnet.id, "fd00:10:0:1::3"],
      ].map(String)),
    );
    const macs = (await a.nicsOf(id)).map(({ mac }: { mac: string }) => mac);
    expect(macs).toContain("02:aa:bb:cc:dd:0f");
    conflictWith(await a.create({ mac: "02:aa:bb:cc:dd:0f" }), "the MAC address is in use by another NIC");
    const reply = await a.call("DELETE", `/v1/subnets/${second.id}`);
    expect(reply.status).toBe(409);
    expect(reply.body.message).toMatch(
      new RegExp(`^subnet ${second.id} still holds nic [0-9a-f-]{36} of instance ${id}`),
    );
    await a.destroy(id);
    expect((await a.call("DELETE", `/v1/subnets/${second.id}`)).status).toBe(204);
  });
});
