// Tests in Chromium how the page of a tenant lists and searches the members of the tenant.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { answerWith, idOf } from "./long-answers.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
/** More rows than a list renders at once. */
const SHOWN_MAX = 60;

let tenant: TestTenant;
let alice: { readonly id: string };

const f = useConsoleSite(async (site) => {
  tenant = await openTenant(site);
  const { tenant_id } = tenant;
  const user = async (username: string) => {
    const body = { username, password: "correct horse battery", tenant_id };
    return okOf(await site.call("POST", "/v1/system/users", { body }));
  };
  alice = await user("alice");
  await user("bob");
});

test("a member is found by a part of its UUID", async () => {
  const { page, show } = f.ui();
  const members = page.getByRole("grid", { name: "Members" }).locator("tbody tr:not(.space)");
  for (const text of [alice.id, alice.id.slice(-8)]) {
    await show(`/tenants/${tenant.tenant_id}?q=${text}`);
    await expect.poll(() => members.allInnerTexts()).toEqual([expect.stringContaining("alice")]);
  }
}, LIMIT_MS);

test("the server finds the members of a tenant, and searches more than 1,000 members", async () => {
  const own = await f.site().open();
  const { tenant_id } = tenant;
  const member = (n: number) => ({ username: `user${n}`, capabilities: [], tenant_id });
  const users = await answerWith(own.page, "/v1/system/users", member);
  await own.show(`/tenants/${tenant.tenant_id}`);
  await own.page.getByText("The list shows the first 1,000 members.").waitFor();
  const all = `?tenant=${tenant.tenant_id}&limit=1000`;
  expect(new Set(users)).toEqual(new Set([all]));
  expect(await own.page.getByRole("grid", { name: "Members" }).locator("tbody tr").count()).toBeLessThan(SHOWN_MAX);
  await own.page.getByRole("searchbox", { name: "Filter members" }).fill("user7");
  await expect.poll(() => new Set(users)).toEqual(new Set([all, `?q=user7&tenant=${tenant.tenant_id}&limit=1000`]));
  await own.page.context().close();
}, LIMIT_MS);

test(
  "the page of a tenant leaves out users of other tenants, which a server of an earlier release returns",
  async () => {
    const own = await f.site().open();
    const user = (n: number, tenant_id: string | null) => ({
      id: idOf(n),
      username: `user${n}`,
      capabilities: [],
      tenant_id,
    });
    const items = [user(1, tenant.tenant_id), user(2, null)];
    await own.page.route("**/v1/system/users?*", (route) => route.fulfill({ json: { items } }));
    await own.show(`/tenants/${tenant.tenant_id}`);
    await own.page.getByText("user1", { exact: true }).waitFor();
    expect(await own.page.getByText("user2", { exact: true }).count()).toBe(0);
    await own.page.context().close();
  },
  LIMIT_MS,
);

test(
  "if a server of an earlier release returns 1,000 users of all tenants, the page says that the list may be incomplete",
  async () => {
    const own = await f.site().open();
    const queries = await answerWith(own.page, "/v1/system/users", (n) => ({
      username: `user${n}`,
      capabilities: [],
      tenant_id: n === 7 ? tenant.tenant_id : null,
    }));
    await own.show(`/tenants/${tenant.tenant_id}`);
    await own.page.getByText("The list shows only members that are among the site's first 1,000 users.").waitFor();
    await own.page.getByText("user7", { exact: true }).waitFor();
    await own.page.getByRole("searchbox", { name: "Filter members" }).fill("user5000");
    await expect.poll(() => queries).toContain(`?q=user5000&tenant=${tenant.tenant_id}&limit=1000`);
    await own.page.context().close();
  },
  LIMIT_MS,
);

test(
  "if the first 1,000 users of the site include no member, the page says this instead of saying that the tenant has no users",
  async () => {
    const own = await f.site().open();
    await answerWith(
      own.page,
      "/v1/system/users",
      (n) => ({ username: `user${n}`, capabilities: [], tenant_id: null }),
    );
    await own.show(`/tenants/${tenant.tenant_id}`);
    await own.page.getByText("The list shows only members that are among the site's first 1,000 users.").waitFor();
    await own.page.getByText("No member is among these users.").waitFor();
    expect(await own.page.getByText("The tenant has no users.").count()).toBe(0);
    await own.page.context().close();
  },
  LIMIT_MS,
);
