// Tests the commands for a tenant's identity provider (docs/tenancy.md, "Credentials").
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Idp } from "../../src/contract/identity.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

const SECRET = "a-secret-of-the-issuer";
const SET = "tenant idp set acme/default --issuer-url https://login.example.org --client-id berth";

let t: TestControlPlane;
let at: OpsctlRunner;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  await at.json("silo create acme");
});
afterAll(() => t?.close());

test("an operator sets, shows and removes the identity provider of a tenant", async () => {
  const made = await at.run([...SET.split(" "), "--client-secret-stdin"], { typed: `${SECRET}\n` });
  expect(made.code, made.err()).toBe(0);
  expect(made.out()).toMatch(/^Set identity provider https:\/\/login\.example\.org of tenant [0-9a-f-]{36}\n$/);
  expect(await at.json<Idp>("tenant idp show acme/default")).toMatchObject({
    issuer_url: "https://login.example.org",
    client_id: "berth",
    audience: "berth",
  });
  expect(await at.printed("tenant idp show acme/default")).not.toContain(SECRET);
  expect(await at.printed("tenant idp delete acme/default")).toMatch(/^Deleted identity provider https:/);
  const none = await at.run("tenant idp show acme/default");
  expect(none.code).toBe(3);
  expect(none.err()).toContain(
    "error: tenant acme/default has no identity provider; " +
      "to set one, run: opsctl tenant idp set acme/default --issuer-url URL --client-id ID (",
  );
  const nobody = await at.run("tenant idp show 00000000-0000-4000-8000-000000000404");
  expect(nobody.err()).toContain("error: Not Found (");
});

test("without a terminal and without --client-secret-stdin, the command fails and changes nothing", async () => {
  const refused = await at.run(SET, { isTTY: false });
  expect(refused.code).toBe(2);
  expect(refused.err()).toContain("there is no prompt for the client secret; pass --client-secret-stdin");
  expect(refused.asked.some(({ method }) => method === "POST")).toBe(false);
});
