// Creating, showing, listing and deleting instances. docs/instances.md.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, GIB, openComputeFixture, SEEN_AHEAD_S } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const NO_NODE =
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate";

describe("a create", () => {
  test("returns the running instance with every field, its addresses and its disk", async () => {
    const answer = a.create({ name: "web", description: "d" });
    const job = await a.node.take();
    expect(job.kind).toMatchObject({ kind: "provision" });
    const instance_id = String(job.kind["instance_id"]);
    expect((await a.show(instance_id)).lifecycle).toEqual({ state: "provisioning" });
    await a.node.complete(job);
    const made = await answer;
    expect(made.status).toBe(201);
    const { id, created_at, updated_at } = made.body;
    expect(made.body).toEqual({
      id: instance_id,
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      name: "web",
      description: "d",
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
    expect(await a.show(id)).toEqual(made.body);
    const [nic] = await a.nicsOf(id);
    expect(nic).toEqual({
      id: nic.id,
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      instance_id: id,
      vpc_id: a.vpc.id,
      subnet_id: a.subnet.id,
      name: "primary",
      mac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/),
      primary_ipv4: "10.0.1.2",
      primary_ipv6: "fd00:10:0:1::2",
      floating_ips: [],
      created_at,
    });
    expect(await a.disksOf(id)).toEqual([{
      id: expect.any(String),
      tenant_id: a.tenant.tenant_id,
      project_id: a.tenant.project_id,
      instance: id,
      instance_id: id,
      name: "boot",
      description: "",
      kind: "boot",
      size_bytes: 2 * GIB,
      applied_bytes: 2 * GIB,
      source_image_id: a.image.id,
      created_at,
    }]);
    await a.destroy(id);
  });

  test("and its delete leave no rows", async () => {
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

  test("whose node fails the job is rolled back with the reason, and its address is free again", async () => {
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

  test("that no node claims is rolled back at its time limit", async () => {
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

  test("that times out after its job was claimed keeps the instance's record until the node has undone the job", async () => {
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

  test("that is repeated with its Idempotency-Key gets 409 while the first one runs, and then the same answer", async () => {
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

  test("accepts several NICs with given addresses, names and MACs", async () => {
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

  test.each([
    [{ cpu: 0 }, "cpu must be greater than zero"],
    [{ memory_bytes: 0 }, "memory_bytes must be greater than zero"],
    [{ disk_bytes: 0 }, "disk_bytes must be greater than zero and at most 16 TiB"],
    [{ disk_bytes: 16 * 2 ** 40 + 1 }, "disk_bytes must be greater than zero and at most 16 TiB"],
  ])("of %j gets 400", async (fields, message) => {
    expectRefused(await a.create(fields), 400, "BadRequest", message);
  });

  test("accepts at most 64 KiB of user data, counted in UTF-8 bytes", async () => {
    const { id } = await a.running({ user_data: "é".repeat(32 * 1_024) });
    await a.destroy(id);
    const message = "user_data must be at most 65536 bytes";
    expectRefused(await a.create({ user_data: "é".repeat(32 * 1_024) + "x" }), 400, "BadRequest", message);
  });

  test.each([
    [{ name: "a/b" }, "name must not contain / or \\"],
    [{ name: "" }, "name must be 1 to 63 bytes long"],
    [{ mac: "02:00:00:00:00" }, "mac must be 12 hex digits"],
    [{ mac: "01:00:00:00:00:01" }, "mac 01:00:00:00:00:01 is a multicast address; a NIC needs a unicast address"],
  ])("of %j gets 409", async (fields, message) => {
    conflictWith(await a.create(fields), message);
  });

  test("requires unique NIC names, including the primary one", async () => {
    const nic = (name: string) => ({ subnet_id: a.subnet.id, name });
    conflictWith(await a.create({ extra_nics: [nic("x"), nic("x")] }), "two NICs of the instance are named x");
    conflictWith(await a.create({ extra_nics: [nic("primary")] }), "two NICs of the instance are named primary");
  });

  test("with a name that is in use gets 409 in the same project, and succeeds in another one", async () => {
    const { id, name } = await a.running();
    const project = a.tenant.project_id;
    conflictWith(await a.create({ name }), `instance with name ${name} already exists in project ${project}`);
    await a.destroy(id);
  });

  test("with an image, subnet or key that does not exist or is not visible to the tenant gets 404", async () => {
    const b = await openComputeFixture({ t: a.t, tenant: await openTenant(a.t, "b"), node: a.node });
    const own = await b.make(`/v1/tenants/${b.tenant.tenant_id}/images`, {
      name: "own",
      os: "linux",
      version: "1",
      size_bytes: 1,
      sha256: "a".repeat(64),
    });
    for (
      const fields of [
        { image_id: randomUUID() },
        { image_id: own.id },
        { primary_subnet_id: randomUUID() },
        { primary_subnet_id: b.subnet.id },
        { extra_nics: [{ subnet_id: b.subnet.id, name: "x" }] },
        { ssh_key_ids: [randomUUID()] },
      ]
    ) {
      notFound(await a.create(fields));
      notFound(await a.create(fields, { key: undefined }));
    }
  });

  test("derives the boot disk's size from the image, for bhyve at least 20 GiB", async () => {
    const bhyve = await a.newImage({ compatibility: { brand: "bhyve", arch: "x86_64" } });
    await a.node.alive({ hvm_supported: true });
    const sizeOf = async (fields: object) => {
      const { id, brand } = await a.running(fields);
      const [{ size_bytes }] = await a.disksOf(id);
      await a.destroy(id);
      return [brand, size_bytes];
    };
    expect(await sizeOf({})).toEqual(["kvm", 2 * GIB]);
    expect(await sizeOf({ disk_bytes: 1 })).toEqual(["kvm", 2 * GIB]);
    expect(await sizeOf({ disk_bytes: 3 * GIB })).toEqual(["kvm", 3 * GIB]);
    expect(await sizeOf({ image_id: bhyve.id })).toEqual(["bhyve", 20 * GIB]);
    expect(await sizeOf({ image_id: bhyve.id, disk_bytes: 3 * GIB })).toEqual(["bhyve", 3 * GIB]);
    await a.node.alive();
  });

  test("that no node has room for gets 503 with the specified text, and writes nothing", async () => {
    const before = await a.dump();
    expectRefused(await a.create({ memory_bytes: 1_000 * GIB }), 503, undefined as never, NO_NODE);
    expect(await a.left(before)).toEqual([]);
  });

  test("succeeds for one of two concurrent requests for the last slot; the other gets 503", async () => {
    const [big] = [{ memory_bytes: 40 * GIB }];
    const answers = [a.create(big), a.create(big)];
    const job = await a.node.does("provision");
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 503]);
    await a.destroy(String(job.kind["instance_id"]));
  });

  test("above the quota gets 409 QuotaExceeded with the limit", async () => {
    const quota = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/quota`;
    const limits = { cpu_limit: 3, memory_bytes: 64 * GIB, disk_bytes: 64 * GIB, instance_limit: 10 };
    okOf(await a.t.call("PUT", quota, { body: limits }));
    const { id } = await a.running();
    expect(okOf(await a.call("GET", quota)).used).toEqual({
      cpu: 2,
      memory_bytes: 4 * GIB,
      disk_bytes: 2 * GIB,
      instances: 1,
    });
    const message = "the quota of the project would be exceeded: cpu: limit 3, used 2, asked for 2";
    expectRefused(await a.create(), 409, "QuotaExceeded", message);
    await a.destroy(id);
    expect(okOf(await a.call("GET", quota)).used).toEqual({ cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 });
    okOf(await a.t.call("DELETE", quota));
  });

  test("in a subnet without a free address gets 409", async () => {
    const tiny = await a.make(`/v1/subnets?vpc=${a.vpc.id}`, { name: randomUUID(), ipv4_block: "10.0.3.0/30" });
    const { id } = await a.running({ primary_subnet_id: tiny.id });
    expect((await a.nicsOf(id))[0].primary_ipv4).toBe("10.0.3.2");
    const refused = await a.create({ primary_subnet_id: tiny.id });
    expectRefused(refused, 409, "PoolExhausted", `subnet ${tiny.id} has no free IPv4 address`);
    await a.destroy(id);
    okOf(await a.call("DELETE", `/v1/subnets/${tiny.id}`));
  });
});

describe("query selectors:", () => {
  const SCOPE = "set `image=`, `cn=`, or `tenant=&project=` to scope the list";

  test("a create requires tenant and project, and rejects silo", async () => {
    for (const query of ["", `?tenant=${a.tenant.tenant_id}`, `?project=${a.tenant.project_id}`]) {
      const message = "POST /v1/instances requires `?tenant=<uuid>&project=<uuid>` selectors";
      expectRefused(await a.call("POST", `/v1/instances${query}`, { body: a.bodyOf() }), 400, "MissingScope", message);
    }
    const silo = await a.call("POST", `/v1/instances${a.selectors}&silo=${a.tenant.silo_id}`, { body: a.bodyOf() });
    expect([silo.status, silo.body.error_code]).toEqual([400, "ScopeNotAccepted"]);
  });

  test("the list requires image, cn, or tenant with project, and rejects silo", async () => {
    for (const query of ["", `?tenant=${a.tenant.tenant_id}`, `?project=${a.tenant.project_id}`, "?state=running"]) {
      expectRefused(await a.call("GET", `/v1/instances${query}`), 400, "MissingScope", SCOPE);
    }
    const silo = await a.call("GET", `/v1/instances${a.selectors}&silo=${a.tenant.silo_id}`);
    expect([silo.status, silo.body.error_code]).toEqual([400, "ScopeNotAccepted"]);
  });

  test("the list contains only matching instances, and a tenant sees only its own", async () => {
    const b = await openComputeFixture({ t: a.t, tenant: await openTenant(a.t, "b"), node: a.node });
    const mine = await a.running();
    const image = await a.newImage();
    const other = await a.stopped({ image_id: image.id });
    const list = async (query: string, fixture = a, key?: string | null) =>
      okOf(await fixture.call("GET", `/v1/instances${query}`, key === undefined ? {} : { key: undefined })).items
        .map(({ id }: { id: string }) => id).sort();
    const both = [mine.id, other.id].sort();
    expect(await list(a.selectors)).toEqual(both);
    expect(await list(`?cn=${mine.host_cn_uuid}`)).toEqual(both);
    expect(await list(`?image=${image.id}`)).toEqual([other.id]);
    expect(await list(`${a.selectors}&image=${image.id}`)).toEqual([other.id]);
    expect(await list(`${a.selectors}&state=Running`)).toEqual([mine.id]);
    expect(await list(`${a.selectors}&state=STOPPED`)).toEqual([other.id]);
    expect((await a.call("GET", `/v1/instances${a.selectors}&state=asleep`)).status).toBe(400);
    expect(await list(`?cn=${mine.host_cn_uuid}`, b)).toEqual([]);
    expect(await list(`?image=${image.id}`, b)).toEqual([]);
    expect(await list(`?image=${image.id}&tenant=${a.tenant.tenant_id}`, b)).toEqual([]);
    expect(await list(`?cn=${mine.host_cn_uuid}`, a, null)).toEqual(both);
    notFound(await b.call("GET", `/v1/instances${a.selectors}`));
    notFound(await b.call("GET", `/v1/instances/${mine.id}`));
    const fleet = async (query: string) => okOf(await a.t.call("GET", `/v1/system/instances${query}`));
    const there = [await a.show(mine.id), await a.show(other.id)];
    expect((await fleet(`?cn=${mine.host_cn_uuid}`)).items).toEqual(there);
    expect((await fleet(`?image=${image.id}`)).items).toEqual([there[1]]);
    expect((await fleet(`?image=${image.id}&cn=${randomUUID()}`)).items).toEqual([]);
    expect((await fleet(`?cn=${mine.host_cn_uuid}&state=STOPPED`)).items).toEqual([there[1]]);
    const page = await fleet(`?cn=${mine.host_cn_uuid}&limit=1`);
    expect(page.items).toEqual([there[0]]);
    expect((await fleet(`?cn=${mine.host_cn_uuid}&limit=1&page_token=${page.next_page}`)).items).toEqual([there[1]]);
    for (const query of ["", `?state=running`, `?silo=${a.tenant.silo_id}`]) {
      expectRefused(
        await a.t.call("GET", `/v1/system/instances${query}`),
        400,
        "MissingScope",
        "GET /v1/system/instances requires `?image=<uuid>` or `?cn=<uuid>`; there is no list of the whole fleet",
      );
    }
    notFound(await a.call("GET", `/v1/system/instances?cn=${mine.host_cn_uuid}`));
    const [nic] = await a.nicsOf(mine.id);
    const nics = async (query: string, fixture = a) => okOf(await fixture.call("GET", `/v1/nics${query}`)).items;
    expect(await nics(`?ip=${nic.primary_ipv4}`)).toEqual([nic]);
    expect(await nics(`?ip=${nic.primary_ipv6}`)).toEqual([nic]);
    expect(await nics(`?ip=${nic.primary_ipv4}`, b)).toEqual([]);
    expect(await nics(`?subnet=${a.subnet.id}`)).toHaveLength(2);
    notFound(await b.call("GET", `/v1/nics?subnet=${a.subnet.id}`));
    notFound(await b.call("GET", `/v1/nics?instance=${mine.id}`));
    notFound(await b.call("GET", `/v1/nics/${nic.id}`));
    expect(okOf(await a.call("GET", `/v1/nics/${nic.id}`))).toEqual(nic);
    const missing = "GET /v1/nics requires one of `?ip=`, `?subnet=<uuid>` and `?instance=<uuid>`, or " +
      "`?tenant=<uuid>&project=<uuid>`";
    for (const half of ["", `?tenant=${a.tenant.tenant_id}`, `?project=${a.tenant.project_id}`]) {
      expectRefused(await a.call("GET", `/v1/nics${half}`), 400, "MissingScope", missing);
    }
    const all = await nics(`?subnet=${a.subnet.id}`);
    expect(await nics(a.selectors)).toEqual(all);
    expect(okOf(await a.t.call("GET", `/v1/nics${a.selectors}`)).items).toEqual(all);
    const first = okOf(await a.call("GET", `/v1/nics${a.selectors}&limit=1`));
    expect(first.items).toEqual([all[0]]);
    expect(await nics(`${a.selectors}&limit=1&page_token=${first.next_page}`)).toEqual([all[1]]);
    expect(await nics(`${a.selectors}&ip=${nic.primary_ipv4}`)).toEqual([nic]);
    expect(await nics(b.selectors, b)).toEqual([]);
    expect(await nics(`?ip=${nic.primary_ipv4}&tenant=${a.tenant.tenant_id}`, b)).toEqual([]);
    notFound(await b.call("GET", `/v1/nics${a.selectors}`));
    const [disk] = await a.disksOf(mine.id);
    notFound(await b.call("GET", `/v1/disks?instance=${mine.id}`));
    notFound(await b.call("GET", `/v1/disks/${disk.id}`));
    notFound(await b.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 4 * GIB } }));
    expect((await a.call("GET", "/v1/disks")).body.error_code).toBe("MissingScope");
    for (const verb of ["start", "stop", "restart", "retry"]) {
      notFound(await b.call("POST", `/v1/instances/${mine.id}/${verb}`));
    }
    notFound(await b.call("DELETE", `/v1/instances/${mine.id}?force=true`));
    await a.destroy(mine.id);
    await a.destroy(other.id);
  });
});

test("an update changes name and description, and keeps omitted fields", async () => {
  const { id, name } = await a.running({ description: "before" });
  const patch = (body: object) => a.call("PATCH", `/v1/instances/${id}`, { body });
  expect(okOf(await patch({ description: "after" }))).toMatchObject({ name, description: "after", host_live: true });
  expect(okOf(await patch({ name: "renamed" }))).toMatchObject({ name: "renamed", description: "after" });
  conflictWith(await patch({ name: " x" }), "name must not begin or end with white space");
  await a.destroy(id);
});

test("the project, image and subnet of an instance cannot be deleted", async () => {
  const { id, name } = await a.running();
  const project = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}`;
  conflictWith(
    await a.call("DELETE", project),
    `project ${a.tenant.project_id} still holds instance ${name} (${id}); delete that first`,
  );
  expect((await a.t.call("DELETE", `/v1/images/${a.image.id}`)).status).toBe(409);
  expect((await a.call("DELETE", `/v1/subnets/${a.subnet.id}`)).status).toBe(409);
  await a.destroy(id);
});

test("an instance shows that its node is not live", async () => {
  const { id } = await a.running();
  await a.t.advance(SEEN_AHEAD_S + 61);
  expect((await a.show(id)).host_live).toBe(false);
  await a.node.alive();
  expect((await a.show(id)).host_live).toBe(true);
  await a.destroy(id);
});
