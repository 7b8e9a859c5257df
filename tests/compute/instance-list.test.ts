// Tests lists of instances, NICs and disks: their query selectors, and the objects that a tenant sees
// (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Instance, Nic } from "../../src/contract/instance.ts";
import { okOf } from "../support/control-plane.ts";
import { expectRefused, notFound } from "../network/public-addresses.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
/** Another tenant, with an instance on the same node. */
let b: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
  b = await openComputeFixture({ t: a.t, tenant: await openTenant(a.t, "b"), node: a.node });
});
afterAll(() => a.t.close());

describe("query selectors:", () => {
  const SCOPE = "set `image=`, `cn=`, or `tenant=&project=` to scope the list";

  test("a create request requires the selectors tenant and project, and rejects silo", async () => {
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
});

describe("with one running and one stopped instance of a tenant", () => {
  let running: Instance;
  let stopped: Instance;
  /** An image that only the stopped instance uses. */
  let image: string;
  beforeAll(async () => {
    running = await a.running();
    image = (await a.newImage()).id;
    stopped = await a.stopped({ image_id: image });
  });
  afterAll(async () => {
    for (const { id } of [running, stopped]) await a.destroy(id);
  });

  test("the list contains only matching instances, and a tenant sees only its own instances", async () => {
    const list = async (query: string, fixture = a, key?: string | null) =>
      okOf(await fixture.call("GET", `/v1/instances${query}`, key === undefined ? {} : { key: undefined })).items
        .map(({ id }: { id: string }) => id).sort();
    const both = [running.id, stopped.id].sort();
    expect(await list(a.selectors)).toEqual(both);
    expect(await list(`?cn=${running.host_cn_uuid}`)).toEqual(both);
    expect(await list(`?image=${image}`)).toEqual([stopped.id]);
    expect(await list(`${a.selectors}&image=${image}`)).toEqual([stopped.id]);
    expect(await list(`${a.selectors}&state=Running`)).toEqual([running.id]);
    expect(await list(`${a.selectors}&state=STOPPED`)).toEqual([stopped.id]);
    expect((await a.call("GET", `/v1/instances${a.selectors}&state=asleep`)).status).toBe(400);
    expect(await list(`?cn=${running.host_cn_uuid}`, b)).toEqual([]);
    expect(await list(`?image=${image}`, b)).toEqual([]);
    expect(await list(`?image=${image}&tenant=${a.tenant.tenant_id}`, b)).toEqual([]);
    expect(await list(`?cn=${running.host_cn_uuid}`, a, null)).toEqual(both);
    notFound(await b.call("GET", `/v1/instances${a.selectors}`));
  });

  test("the list for operators contains the instances of all tenants, and has a search and pages", async () => {
    const fleet = async (query: string) => okOf(await a.t.call("GET", `/v1/system/instances${query}`));
    // Lists omit the values that the guest reports.
    const listed = ({ guest_interfaces: _, ...instance }: Record<string, unknown>) => instance;
    const host = okOf(await a.t.call("GET", `/v1/system/cns/${running.host_cn_uuid}`));
    const { name: tenant_name } = okOf(
      await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}/tenants/${a.tenant.tenant_id}`),
    );
    const nics = await Promise.all([running.id, stopped.id].map((id) => a.nicsOf(id)));
    const names = {
      silo_name: okOf(await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}`)).name,
      tenant_name,
      project_name: okOf(await a.call("GET", `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}`)).name,
      host_name: host.hostname,
    };
    const there = [await a.show(running.id), await a.show(stopped.id)].map((instance, at) => ({
      ...listed(instance),
      ...names,
      addresses: (nics[at] as Nic[]).flatMap((nic) =>
        [nic.primary_ipv4, nic.primary_ipv6].filter((each) => each !== null)
      ),
    }));
    expect((await fleet(`?cn=${running.host_cn_uuid}`)).items).toEqual(there);
    expect((await fleet(`?image=${image}`)).items).toEqual([there[1]]);
    expect((await fleet(`?image=${image}&cn=${randomUUID()}`)).items).toEqual([]);
    expect((await fleet(`?cn=${running.host_cn_uuid}&state=STOPPED`)).items).toEqual([there[1]]);
    const page = await fleet(`?cn=${running.host_cn_uuid}&limit=1`);
    expect(page.items).toEqual([there[0]]);
    const next = await fleet(`?cn=${running.host_cn_uuid}&limit=1&page_token=${page.next_page}`);
    expect(next.items).toEqual([there[1]]);
    const [nic] = await a.nicsOf(running.id);
    const ids = async (query: string) => (await fleet(query)).items.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual(expect.arrayContaining([running.id, stopped.id]));
    expect(await ids(`?tenant=${a.tenant.tenant_id}`)).toEqual([running.id, stopped.id]);
    expect(await ids(`?tenant=${randomUUID()}`)).toEqual([]);
    expect(await ids(`?q=${nic.primary_ipv4}&tenant=${a.tenant.tenant_id}`)).toEqual([running.id]);
    expect(await ids(`?q=${stopped.id.slice(0, 30)}`)).toContain(stopped.id);
    expect(await ids(`?q=${running.name.toUpperCase()}&tenant=${a.tenant.tenant_id}`)).toContain(running.id);
    expect(await ids("?q=%25")).toEqual([]);
    notFound(await a.call("GET", `/v1/system/instances?cn=${running.host_cn_uuid}`));
  });

  test("the list of NICs requires ip, subnet, instance, or tenant with project, and has pages", async () => {
    const [nic] = await a.nicsOf(running.id);
    const nics = async (query: string, fixture = a) => okOf(await fixture.call("GET", `/v1/nics${query}`)).items;
    expect(await nics(`?ip=${nic.primary_ipv4}`)).toEqual([nic]);
    expect(await nics(`?ip=${nic.primary_ipv6}`)).toEqual([nic]);
    expect(await nics(`?ip=${nic.primary_ipv4}`, b)).toEqual([]);
    expect(await nics(`?subnet=${a.subnet.id}`)).toHaveLength(2);
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
  });

  test("another tenant gets 404 for the instance, its NIC and its disk, for reads and for actions", async () => {
    const [nic] = await a.nicsOf(running.id);
    const [disk] = await a.disksOf(running.id);
    for (
      const path of [
        `/v1/instances/${running.id}`,
        `/v1/nics${a.selectors}`,
        `/v1/nics?subnet=${a.subnet.id}`,
        `/v1/nics?instance=${running.id}`,
        `/v1/nics/${nic.id}`,
        `/v1/disks?instance=${running.id}`,
        `/v1/disks/${disk.id}`,
      ]
    ) {
      notFound(await b.call("GET", path));
    }
    notFound(await b.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 4 * GIB } }));
    for (const verb of ["start", "stop", "restart", "retry"]) {
      notFound(await b.call("POST", `/v1/instances/${running.id}/${verb}`));
    }
    notFound(await b.call("DELETE", `/v1/instances/${running.id}?force=true`));
  });

  test("the list of disks requires an instance or a project, and the disks of a project have pages", async () => {
    expect((await a.call("GET", "/v1/disks")).body.error_code).toBe("MissingScope");
    const disks = async (query: string, as = a) => okOf(await as.call("GET", `/v1/disks${query}`)).items;
    const own = [...await a.disksOf(running.id), ...await a.disksOf(stopped.id)];
    const all = await disks(a.selectors);
    expect(all).toHaveLength(own.length);
    expect(all).toEqual(expect.arrayContaining(own));
    const first = okOf(await a.call("GET", `/v1/disks${a.selectors}&limit=1`));
    expect(first.items).toEqual([all[0]]);
    expect(await disks(`${a.selectors}&page_token=${first.next_page}`)).toEqual(all.slice(1));
    expect(await disks(b.selectors, b)).toEqual([]);
    notFound(await b.call("GET", `/v1/disks${a.selectors}`));
    expect(await disks(`?tenant=${b.tenant.tenant_id}&project=${b.tenant.project_id}`, b)).toEqual([]);
    notFound(await b.call("GET", `/v1/disks?tenant=${b.tenant.tenant_id}&project=${a.tenant.project_id}`));
  });
});
