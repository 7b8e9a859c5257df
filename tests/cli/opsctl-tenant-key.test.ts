// Tests the commands for API keys of tenants (docs/tenancy.md, "Credentials").
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { Silo } from "../../src/contract/tenancy.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
let silo: Silo;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  silo = await at.json("silo create acme");
});
afterAll(() => t?.close());

test("a tenant's key is created, works only inside the tenant, is listed and deleted", async () => {
  const argv = ["api-key", "create", "--tenant", "acme/default", "--description", "for the shop", "--scope", "full"];
  const made = await at.run(argv);
  expect(made.code, made.err()).toBe(0);
  expect(made.out()).toMatch(/^opsk_[A-Za-z0-9_-]{12}_[A-Za-z0-9_-]{32}\n$/);
  expect(made.err()).not.toContain(made.out().trim());
  const key = made.out().trim();
  const projects = `/v1/tenants/${silo.default_tenant_id}/projects`;
  expect((await t.call("POST", projects, { key, body: { name: "web" } })).status).toBe(201);
  expect((await t.call("GET", "/v1/silos", { key })).status).toBe(403);

  const [listed] = await at.json<ApiKeyView[]>("api-key list --tenant acme/default");
  expect(listed).toMatchObject({ description: "for the shop", scope: "full" });
  const table = await at.printed("api-key list --tenant acme/default");
  expect(table).toMatch(/^ID +SCOPE +DESCRIPTION +AGE +EXPIRES_AT +LAST_USED +TENANT\n/);
  expect(table).toContain(silo.default_tenant_id);
  expect(table).not.toContain(key);

  expect(await at.printed(`api-key delete ${listed!.id} --tenant acme/default`)).toBe(
    `Deleted API key ${listed!.id}\n`,
  );
  expect(await at.printed("api-key list --tenant acme/default")).toBe("(no API keys)\n");
  expect((await t.call("GET", projects, { key })).status).toBe(401);
});

test("a tenant's key may be read-only and may expire; a scope other than full and read_only is rejected before any request", async () => {
  const expires_at = "2999-01-01T00:00:00.000Z";
  const made = await at.json<ApiKeyView>(
    `api-key create --tenant acme/default --description d --scope read_only --expires-at ${expires_at}`,
  );
  expect(made).toMatchObject({ scope: "read_only", expires_at });
  const refused = await at.run("api-key create --tenant acme/default --description d --scope agent");
  expect([refused.code, refused.asked]).toEqual([2, []]);
  expect(refused.err()).toContain("full or read_only, not agent");
});
