// A tenant's user signs in at a real OpenID provider in Chromium. For the browser, the server (localhost) and the
// provider (127.0.0.1) are different sites, as in production. So the browser must also accept and send the cookies as
// in production.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { buildConsole } from "../../console/bundle.ts";
import { CLIENT, openProvider, type ProviderSite } from "../auth/oidc-provider-site.ts";
import { launchChromium } from "../support/browser.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { lacking, needs } from "../support/optional-programs.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { CONSOLE_FILES } from "./site.ts";

let browser: Browser;
let database: FreshDatabase;
let server: ServerProcess;
let provider: ProviderSite;
let origin: string;

beforeAll(async () => {
  if (lacking("chromium") !== null) return;
  await buildConsole(CONSOLE_FILES);
  database = await freshDatabase();
  const env = { DATABASE_URL: database.url, ...LOOPBACK_ALLOWED };
  [server, browser] = await Promise.all([startServer({ env, as_task: true }), launchChromium()]);
  origin = `http://localhost:${server.port}`;
  provider = await openProvider(`${origin}/v1/auth/oidc/callback`);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await provider?.close();
  await server?.stop();
  await database?.drop();
});

beforeEach((context) => needs(context, "chromium"));

async function make(path: string, body: unknown) {
  const headers = { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" };
  const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

test("a user who signs in at the tenant's issuer is then in the console", async () => {
  const silo = await make("/v1/silos", { name: "acme" });
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, { name: "web" });
  await make(`/v1/tenants/${tenant.id}/idp`, { issuer_url: provider.issuer, ...CLIENT });

  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${origin}/console/me?tenant=${tenant.id}`);
  await page.getByRole("link", { name: "Sign in with your tenant's identity provider" }).press("Enter");
  await page.locator("input[name=login]").waitFor();
  expect(page.url().startsWith(provider.issuer)).toBe(true);
  await page.locator("input[name=login]").fill("alice");
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.locator("button[type=submit]").click();
  await page.waitForURL(`${origin}/console/me`);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.getByText(`alice@${provider.issuer}`).first().waitFor();
  const cookies = await context.cookies(origin);
  expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
    ["__Host-berth", true, "Strict"],
  ]);
  // After the sign-in, the address has no code and no state, and no script can read the cookie.
  expect(await page.evaluate("location.search + document.cookie")).toBe("");
}, 60_000);

test("the sign-in page states the reason of a failed sign-in", async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${origin}/v1/auth/oidc/start`);
  await page.waitForURL(`${origin}/console/?sign_in=unknown`);
  expect(await page.getByRole("alert").innerText()).toContain("No identity provider is configured");
  expect(await page.getByRole("link", { name: "identity provider" }).count()).toBe(0);
});
