// Tests in Chromium that a page reads only the first rows of a list that can be very long, says that more rows exist,
// and has a link to the server's search.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { answerWith, created_at, idOf } from "./long-answers.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
const SILOS = 60;

let tenant: TestTenant;

const f = useConsoleSite(async (site) => {
  tenant = await openTenant(site);
});

const instance = (n: number) => ({
  name: `web${n}`,
  lifecycle: { state: "running" },
  host_live: true,
  cpu: 1,
  memory_bytes: 2 ** 30,
  brand: "kvm",
});

test("the list of a project's instances reads one page, and leads to the search", async () => {
  const own = await f.site().open({ key: tenant.key });
  // Waits, because the start page of a tenant with one project also reads the instances.
  await own.settled();
  const queries = await answerWith(own.page, "/v1/instances", instance);
  await own.show(`/t/${tenant.tenant_id}/p/${tenant.project_id}/instances?state=running&q=-db web5000 state:running`);
  await own.page.getByText("The list shows the oldest 1,000 instances. Only the oldest 1,000 are searched.").waitFor();
  await own.page.getByText("tenantctl instance list --state running").waitFor();
  expect(new Set(queries)).toEqual(
    new Set([`?tenant=${tenant.tenant_id}&project=${tenant.project_id}&state=running&limit=1000`]),
  );
  await own.page.getByRole("link", { name: "Search all objects for “web5000”" }).click();
  await own.page.getByRole("heading", { name: "Find web5000" }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test(
  "for a text of several words, the page of all instances searches for one word at the server and for the rest itself",
  async () => {
    const own = await f.site().open();
    // Waits, because the overview also reads instances.
    await own.settled();
    const queries = await answerWith(own.page, "/v1/system/instances", instance);
    await own.show("/all-instances?q=-web1 web state:running");
    await own.page.getByText("Only the oldest 1,000 are searched.").waitFor();
    await own.page.getByText("opsctl instance list web", { exact: true }).waitFor();
    await own.page.getByRole("link", { name: "web2", exact: true }).waitFor();
    expect(await own.page.getByRole("link", { name: "web1", exact: true }).count()).toBe(0);
    expect(new Set(queries)).toEqual(new Set(["?q=web&limit=1000"]));
    await own.page.context().close();
  },
  LIMIT_MS,
);

test("the lists of users and of boot records read one page each", async () => {
  const own = await f.site().open();
  const users = await answerWith(own.page, "/v1/system/users", (n) => ({
    username: `user${n}`,
    tenant_id: null,
    is_root: false,
    capabilities: [],
    issuer: null,
  }));
  await own.show("/users");
  await own.page.getByText("The list shows the oldest 1,000 users.").waitFor();
  expect(new Set(users)).toEqual(new Set(["?limit=1000"]));
  await own.show("/users?q=rights:root user7");
  await own.page.getByText("opsctl user list user7", { exact: true }).waitFor();
  await expect.poll(() => new Set(users)).toEqual(new Set(["?limit=1000", "?q=user7&limit=1000"]));
  const records = await answerWith(own.page, "/v2/cn-boot", (n) => ({ mac: `02:00:5e:00:53:${n}`, state: "enrolled" }));
  await own.show("/boot?state=enrolled&q=02:00:5e:00:53:77");
  await own.page.getByRole("link", { name: "Open the record of 02:00:5e:00:53:77" }).waitFor();
  expect(new Set(records)).toEqual(new Set(["?state=enrolled&limit=1000"]));
  await own.page.context().close();
}, LIMIT_MS);

test(
  "the search for all objects says that more hits may exist, lists objects that have no page, and shows a refusal",
  async () => {
    const own = await f.site().open();
    await own.page.route("**/v1/search?*", (route) => {
      const items = Array.from(
        { length: Number(new URL(route.request().url()).searchParams.get("limit")) },
        (_, n) => ({ kind: n === 0 ? "project" : "vpc", id: idOf(n), name: `web${n}`, hint: null }),
      );
      return route.fulfill({ json: { items } });
    });
    await own.show("/go/web");
    await own.page.getByText("The page shows the best 50 hits. More objects may match").waitFor();
    await own.page.getByText("web0", { exact: true }).waitFor();
    await own.page.getByRole("link", { name: "web49" }).waitFor();
    await own.page.unrouteAll();
    await own.show(`/go/${"x".repeat(300)}`);
    await own.page.getByRole("alert").getByText("q: ").waitFor();
    expect(await own.page.getByText("Nothing matches.").count()).toBe(0);
    await own.page.context().close();
  },
  LIMIT_MS,
);

test("a port can be forwarded to a NIC that is not among the first 1,000", async () => {
  const own = await f.site().open({ key: tenant.key });
  const gateway = {
    id: idOf(1),
    name: "out",
    description: "",
    labels: {},
    tenant_id: tenant.tenant_id,
    project_id: tenant.project_id,
    vpc_id: idOf(2),
    public_address: "192.0.2.9",
    family: "v4",
    host_cn_uuid: null,
    counts: null,
    realized: null,
    created_at,
  };
  await own.page.route("**/v1/nat-gateways/*", (route) => route.fulfill({ json: gateway }));
  await answerWith(own.page, "/v1/nics", (n) => ({ name: "net0", vpc_id: idOf(3), instance_id: idOf(n) }));
  await own.page.route(
    "**/v1/port-forwards?*",
    (route) =>
      route.request().method() === "GET" ? route.fulfill({ json: { items: [] } }) : route.fulfill({ json: {} }),
  );
  await own.show(`/nat-gateways/${gateway.id}`);
  await own.settled();
  await own.page.getByRole("button", { name: /^Forward a port/ }).click();
  const dialog = own.page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("ssh");
  await dialog.getByLabel("Public port").fill("22");
  await dialog.getByLabel("To", { exact: true }).fill(idOf(7));
  await dialog.getByText(`--nic ${idOf(7)}`).waitFor();
  const sent = own.page.waitForRequest((request) => request.method() === "POST" && request.url().includes("forwards"));
  await dialog.getByRole("button", { name: "Forward" }).click();
  expect((await sent).postDataJSON()).toMatchObject({ nic_id: idOf(7), public_port: 22 });
  await own.page.context().close();
}, LIMIT_MS);

test(
  "with more than 50 silos, the server searches the tenants, and a form accepts a tenant of any silo",
  async () => {
    const own = await f.site().open();
    const silos = Array.from(
      { length: SILOS },
      (_, n) => ({ id: idOf(n), name: `silo${n}`, description: "", created_at }),
    );
    await own.page.route("**/v1/silos", (route) => route.fulfill({ json: silos }));
    const asked = new Set<string>();
    const last = idOf(SILOS - 1);
    await own.page.route("**/v1/silos/*/tenants", (route) => {
      const silo_id = new URL(route.request().url()).pathname.split("/")[3]!;
      asked.add(silo_id);
      const id = silo_id === last ? last : `${silo_id.slice(0, -1)}f`;
      const name = silo_id === last ? "shop" : "default";
      return route.fulfill({ json: [{ id, silo_id, name, description: "", created_at }] });
    });
    // 50 VPCs match, too. Without the kind in the search, they would take all places among the hits.
    const vpcs = Array.from({ length: 50 }, (_, n) => ({ kind: "vpc", id: idOf(n), name: `sho${n}`, hint: null }));
    await own.page.route("**/v1/search?q=sho&*", (route) => {
      const isOfTenants = new URL(route.request().url()).searchParams.get("kind") === "tenant";
      const shop = { kind: "tenant", id: last, name: "shop", hint: "silo59" };
      return route.fulfill({ json: { items: isOfTenants ? [shop] : vpcs } });
    });
    await own.page.goto(`${f.site().url}/console/tenants`);
    await own.page.getByText("The list shows the tenants of the first 50 of 60 silos.").waitFor();
    await own.settled();
    expect(asked.size).toBe(50);
    // Searches for a part of the tenant's name, for the name of its silo, and for the id, which both have in this test.
    for (const word of ["sho", "silo59", last]) {
      asked.clear();
      await own.show(`/tenants?q=${word}`);
      await own.page.getByRole("link", { name: "shop" }).waitFor();
      expect([...asked], word).toEqual([last]);
    }
    const explained = () => own.page.waitForRequest("**/placement/explain");
    await own.show("/placement");
    await own.page.getByLabel(/^Tenant/).fill("silo59/shop");
    await own.page.getByText("--tenant silo59/shop --role tenant").waitFor();
    const body = explained();
    await own.page.getByRole("button", { name: "Explain" }).click();
    expect((await body).postDataJSON()).toMatchObject({ tenant_id: last });
    await own.page.getByLabel(/^Tenant/).fill("silo58/shop");
    await own.page.getByRole("button", { name: "Explain" }).click();
    await own.page.getByText("No tenant is called silo58/shop.").waitFor();
    await own.page.context().close();
  },
  LIMIT_MS,
);

test(
  "a repeated read of a tenant's page reads only the tenant and its silo; the link to a silo shows the silo's tenants",
  async () => {
    const own = await f.site().open();
    const [silo] = okOf(await f.site().call("GET", `/v1/search?q=acme-silo`)).items;
    const [{ id: silo_id, name }] = [silo];
    await own.show(`/tenants/${tenant.tenant_id}`);
    await own.page.getByText(`in ${name}`).waitFor();
    await own.settled();
    const asked = new Set<string>();
    own.page.on("request", (request) => asked.add(new URL(request.url()).pathname));
    await own.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await expect.poll(() => [...asked]).toContain(`/v1/silos/${silo_id}/tenants/${tenant.tenant_id}`);
    await own.settled();
    expect([...asked].filter((path) => path.startsWith("/v1/silos")).sort())
      .toEqual([`/v1/silos/${silo_id}`, `/v1/silos/${silo_id}/tenants/${tenant.tenant_id}`]);
    await own.show(`/go/${silo_id}`);
    await own.page.getByRole("heading", { name: "Tenants" }).waitFor();
    await own.page.getByRole("gridcell", { name }).first().waitFor();
    await own.page.context().close();
  },
  LIMIT_MS,
);
