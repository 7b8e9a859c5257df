// Tests in Chromium that a page of the console acts only as the user that it shows, although all tabs of a browser
// share one session (docs/web-console.md, "Sessions").
import { expect, test } from "vitest";
import { type ConsolePage, signInWithKey } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

let key: string;

const f = useConsoleSite(async (site) => {
  const { tenant_id } = await openTenant(site);
  const body = { username: "olga", password: "correct horse battery" };
  okOf(await site.call("POST", "/v1/system/users", { body: { ...body, tenant_id } }));
  const { access_token } = okOf(await site.call("POST", "/v1/auth/login", { key: null, body }));
  const wanted = { description: "console", scope: "full" };
  key = okOf(await site.call("POST", "/v1/auth/api-keys", { key: access_token, body: wanted })).secret;
});

/** Ends the session of the browser in a second tab, and signs in there. */
async function signInElsewhere(first: ConsolePage, as: string): Promise<void> {
  const page = await first.page.context().newPage();
  await page.goto(`${f.site().url}/console/`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInWithKey({ ...first, page }, as);
}

/** Makes the page believe that its tab is hidden or visible. */
async function setVisibility({ page }: ConsolePage, value: "hidden" | "visible"): Promise<void> {
  await page.evaluate(`{
    Object.defineProperty(document, "visibilityState", { value: "${value}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);
}

async function expectOther({ page, axe }: ConsolePage): Promise<void> {
  await page.getByRole("heading", { name: "Another user has signed in" }).waitFor();
  expect(await page.getByRole("navigation", { name: "Main" }).count()).toBe(0);
  expect(await axe()).toEqual([]);
  await page.getByRole("link", { name: "Continue as olga" }).click();
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "olga" }).waitFor();
  expect(await navigation.getByRole("link", { name: "Nodes" }).count()).toBe(0);
  await page.context().close();
}

test("a hidden page closes when it is shown again, if another user has signed in", async () => {
  const own = await f.site().open();
  await own.show("/nodes");
  await setVisibility(own, "hidden");
  await signInElsewhere(own, key);
  await setVisibility(own, "visible");
  await expectOther(own);
}, LIMIT_MS);

test("a visible page closes at once when another user signs in in another window", async () => {
  const own = await f.site().open();
  await own.show("/nodes");
  await signInElsewhere(own, key);
  await expectOther(own);
}, LIMIT_MS);

test("a page stays open and keeps the user's input if the same user signs in in another window", async () => {
  const own = await f.site().open();
  await own.show("/tenants");
  await own.page.getByRole("link", { name: "default" }).first().waitFor();
  await own.page.keyboard.press("c");
  await own.page.getByLabel("Name").last().fill("kept-tenant");
  await signInElsewhere(own, ROOT_KEY);
  await own.page.getByRole("heading", { name: "The session has ended" }).waitFor({ state: "hidden" });
  expect(await own.page.getByLabel("Name").last().inputValue()).toBe("kept-tenant");
  await own.page.context().close();
}, LIMIT_MS);

test("a page sends no input as another user", async () => {
  const [own, other] = [await f.site().open(), await f.site().open({ key })];
  await own.show("/tenants");
  await own.page.getByRole("link", { name: "default" }).first().waitFor();
  await own.page.keyboard.press("c");
  await own.page.getByLabel("Name").last().fill("not-sent");
  // The page gets no report of this change.
  await own.page.context().addCookies(await other.page.context().cookies());
  const writes: string[] = [];
  own.page.on("request", (request) => {
    if (request.method() !== "GET") writes.push(request.url());
  });
  await own.page.keyboard.press("Enter");
  await expectOther(own);
  expect(writes).toEqual([]);
  await other.page.context().close();
}, LIMIT_MS);
