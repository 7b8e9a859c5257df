// Uses the web console as users do, with the built files, a server process and Chromium.
import { randomUUID } from "node:crypto";
import type { Locator, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { buildConsole, FIRST_LOAD_BYTES_MAX } from "../../console/bundle.ts";
import { openClient } from "../../src/db/pool.ts";
import { signInWithKey } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { CONSOLE_FILES, useConsoleSite } from "./site.ts";

const DOM_NODES_MAX = 400;
const NODES = 10_000;
const BATCH = 1_000;
/** The time limit of the longest tests, in milliseconds. The creation of the nodes needs most of this time. */
const LIMIT_MS = 60_000;
/**
 * A change must be on screen within this time. This limit is twice the promised time, because the machine also runs
 * other tests.
 */
const SEEN_MS_MAX = 1_000;

const f = useConsoleSite();

const call = async (method: string, path: string, body?: unknown) => okOf(await f.site().call(method, path, { body }));

async function register(hostname: string) {
  const server_uuid = randomUUID();
  const { claim_code } = await f.site().register({ server_uuid, hostname, sysinfo: { UUID: server_uuid } });
  return { server_uuid, code: claim_code };
}

/** Creates NODES nodes as copies of one row. Works in batches, because each statement has a time limit. */
async function createNodes(): Promise<void> {
  const client = await openClient({ url: f.site().databaseUrl });
  try {
    for (let first = 1; first <= NODES; first += BATCH) {
      await client.query(
        `insert into cn select (jsonb_populate_record(cn, jsonb_build_object(
             'server_uuid', gen_random_uuid(), 'hostname', 'many-' || lpad(n::text, 5, '0'), 'bound_api_key_id', null,
             'poll_token_sha256', null, 'claim_code', null))).*
           from cn, generate_series($1::int, $2::int) n where hostname = 'r1-u3'`,
        [first, first + BATCH - 1],
      );
    }
  } finally {
    await client.end();
  }
}

test("the files of the console's first load are within their size limit", async () => {
  const { first } = await buildConsole(CONSOLE_FILES);
  const sum = first.reduce((bytes, { gzip_bytes }) => bytes + gzip_bytes, 0);
  expect(sum).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});

test("scripts cannot read the session's cookie, and the page loads files only from its own server", async () => {
  const cookies = await f.ui().page.context().cookies();
  expect(cookies).toEqual([expect.objectContaining({ name: "__Host-berth", httpOnly: true, sameSite: "Strict" })]);
  expect(f.ui().faults).toEqual([]);
});

describe("with the keyboard alone, a user can", () => {
  test("approve a node by its code", async () => {
    const { code } = await register("r1-u1");
    await f.ui().show("/nodes");
    await f.ui().page.keyboard.press("a");
    await f.ui().page.keyboard.type(code.toLowerCase());
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("heading", { name: "r1-u1", level: 1 }).waitFor();
    expect(await f.ui().page.locator(".heading .state").textContent()).toBe("approved");
  });

  test("read the server's message about a wrong code in the dialog, and correct the code there", async () => {
    await f.ui().show("/nodes");
    await f.ui().page.keyboard.press("a");
    await f.ui().page.keyboard.type("000-000");
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("alert").waitFor();
    expect(await f.ui().page.getByRole("alert").textContent()).toContain("no node is waiting");
    expect(await f.ui().page.getByLabel("Claim code").inputValue()).toBe("000-000");
    await f.ui().page.keyboard.press("Escape");
  });

  test("cordon a node: open the node from the list, press t, enter a reason", async () => {
    const { server_uuid, code } = await register("r1-u2");
    await call("POST", "/v1/cn-approvals", { code });
    await f.ui().show("/nodes?q=r1-u2");
    await f.ui().page.getByRole("link", { name: "r1-u2" }).waitFor();
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("heading", { name: "r1-u2", level: 1 }).waitFor();
    await f.ui().page.getByRole("button", { name: "Cordon t" }).waitFor();
    await f.ui().page.keyboard.press("t");
    await f.ui().page.keyboard.type("new power supply");
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("button", { name: "Uncordon t" }).waitFor();
    const { cordoned, cordoned_reason } = await call("GET", `/v1/cns/${server_uuid}/placement`);
    expect({ cordoned, cordoned_reason }).toEqual({ cordoned: true, cordoned_reason: "new power supply" });
  });

  test("find an audit event: open the log with g a, filter it, open the event", async () => {
    await f.ui().show("/overview");
    await f.ui().page.keyboard.press("g");
    await f.ui().page.keyboard.press("a");
    await f.ui().page.getByRole("heading", { name: "Audit", level: 1 }).waitFor();
    await f.ui().page.locator("tbody a").first().waitFor();
    await f.ui().page.keyboard.press("/");
    await f.ui().page.keyboard.type("action:cn_approve decision:allow");
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.locator("tbody a").first().waitFor();
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByText("The chain verifies at this event.").waitFor();
    expect(await f.ui().page.locator("h1").textContent()).toContain("approve");
  });

  test("create a silo, a tenant and a project from the palette", async () => {
    const act = async (title: string, ...values: readonly string[]) => {
      await f.ui().page.keyboard.press("Control+k");
      await f.ui().page.keyboard.type(title);
      await f.ui().page.keyboard.press("Enter");
      for (const value of values) {
        await f.ui().page.keyboard.type(value);
        await f.ui().page.keyboard.press("Tab");
      }
      await f.ui().page.keyboard.press("Enter");
    };
    await f.ui().show("/tenants");
    await act("create a silo", "acme");
    await f.ui().page.getByText("Silo acme is created").waitFor();
    await f.ui().page.getByRole("link", { name: "default" }).waitFor();
    await f.ui().page.keyboard.press("c");
    await f.ui().page.keyboard.press("Tab");
    await f.ui().page.keyboard.type("web");
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("heading", { name: "web", level: 1 }).waitFor();
    await f.ui().page.keyboard.press("c");
    await f.ui().page.keyboard.type("shop");
    await f.ui().page.keyboard.press("Enter");
    await f.ui().page.getByRole("link", { name: "shop" }).waitFor();
  });
});

test("the cursor of a list stays on its row, and in sight, while another caller adds rows above it", async () => {
  const own = await f.site().open();
  const silo = await call("POST", "/v1/silos", { name: "cursors" });
  const add = (name: string) => call("POST", `/v1/silos/${silo.id}/tenants`, { name });
  for (let n = 10; n < 40; n++) await add(`cursor-${n}`);
  await own.show("/tenants?sort=name&q=cursor");
  await own.page.getByRole("link", { name: "cursor-10" }).waitFor();
  for (let n = 10; n < 15; n++) await own.page.keyboard.press("j");
  const cursor = own.page.locator("tr.at");
  expect(await cursor.getByRole("link").innerText()).toBe("cursor-15");
  for (let n = 0; n < 12; n++) await add(`above-cursor-${10 + n}`);
  await own.page.getByRole("link", { name: "above-cursor-21" }).waitFor();
  expect(await cursor.getByRole("link").innerText()).toBe("cursor-15");
  const bottomOf = async (box: Locator) => {
    const { y = 0, height = 0 } = await box.boundingBox() ?? {};
    return y + height;
  };
  // The list scrolls after the rows are on screen.
  await expect.poll(async () => await bottomOf(cursor) <= await bottomOf(own.page.locator(".list"))).toBe(true);
  await own.page.keyboard.press("Enter");
  await own.page.getByRole("heading", { name: "cursor-15", level: 1, exact: true }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test("a page shows a change by another caller at once", async () => {
  const { server_uuid, code } = await register("r1-u3");
  await call("POST", "/v1/cn-approvals", { code });
  await f.ui().show(`/nodes/${server_uuid}`);
  const state = f.ui().page.locator(".heading .state");
  await f.ui().page.locator(".link.live").waitFor();
  await state.getByText("approved").waitFor();
  await call("POST", `/v1/cns/${server_uuid}/disable`);
  const began = performance.now();
  await state.getByText("disabled").waitFor();
  expect(performance.now() - began).toBeLessThan(SEEN_MS_MAX);
});

test("a page shows a change that another caller makes before the feed of changes has begun", async () => {
  const own = await f.site().open();
  const silo = await call("POST", "/v1/silos", { name: "feed" });
  await call("POST", `/v1/silos/${silo.id}/tenants`, { name: "first-of-feed" });
  const opened = Promise.withResolvers<void>();
  let held = 0;
  await own.page.route(/\/v1\/changes$/, async (route) => {
    held += 1;
    await opened.promise;
    await route.continue();
  });
  await own.page.goto(`${f.site().url}/console/tenants?q=feed`);
  await own.page.getByRole("link", { name: "first-of-feed" }).waitFor();
  await own.settled();
  await call("POST", `/v1/silos/${silo.id}/tenants`, { name: "before-the-feed" });
  const began = performance.now();
  expect(held).toBeGreaterThan(0);
  opened.resolve();
  await own.page.getByRole("link", { name: "before-the-feed" }).waitFor();
  expect(performance.now() - began).toBeLessThan(SEEN_MS_MAX);
  await own.page.context().close();
});

test(
  "a list of 10,000 nodes has few DOM elements, shows its last row after one key, and is searched by the server",
  async () => {
    await createNodes();
    await f.ui().show("/nodes?q=many-");
    await f.ui().page.getByRole("link", { name: "many-00001" }).waitFor();
    await f.ui().page.keyboard.press("End");
    await f.ui().page.getByRole("link", { name: "many-10000" }).waitFor();
    expect(await f.ui().page.locator("*").count()).toBeLessThan(DOM_NODES_MAX);
    await f.ui().page.keyboard.press("/");
    await f.ui().page.keyboard.press("Control+a");
    await f.ui().page.keyboard.type("many-07777");
    await f.ui().page.getByRole("link", { name: "many-07777" }).waitFor();
    expect(await f.ui().page.locator("tbody tr:not(.space)").count()).toBe(1);
  },
  LIMIT_MS,
);

test(
  "a page shows that the server does not answer, keeps a filled form, and sends the form to the next server",
  async () => {
    const own = await f.site().open();
    await own.show("/tenants");
    await own.page.locator(".link.live").waitFor();
    await own.page.getByRole("link", { name: "default" }).first().waitFor();
    await own.page.keyboard.press("c");
    await own.page.getByLabel("Name").last().fill("after-restart");
    await f.site().restart(async () => {
      await own.page.locator(".link.lost").waitFor();
    });
    await own.page.locator(".link.live").waitFor();
    expect(await own.page.getByLabel("Name").last().inputValue()).toBe("after-restart");
    await own.page.keyboard.press("Enter");
    await own.page.getByRole("heading", { name: "after-restart", level: 1 }).waitFor();
  },
  LIMIT_MS,
);

test("after the end of the session, a dialog over the page asks for a sign-in, and the page keeps a filled form", async () => {
  const own = await f.site().open();
  await own.show("/tenants");
  await own.page.getByRole("link", { name: "default" }).first().waitFor();
  await own.page.keyboard.press("c");
  await own.page.getByLabel("Name").last().fill("kept");
  await own.page.context().clearCookies();
  await own.page.keyboard.press("Enter");
  await own.page.getByRole("heading", { name: "The session has ended" }).waitFor();
  await signInWithKey(own, ROOT_KEY);
  await own.page.getByRole("heading", { name: "The session has ended" }).waitFor({ state: "hidden" });
  expect(await own.page.getByLabel("Name").last().inputValue()).toBe("kept");
});

test("a form keeps its Idempotency-Key after a 503, because the request may have taken effect; after a 400 it gets a new key", async () => {
  okOf(await f.site().call("POST", "/v1/silos", { body: { name: "with-keys" } }));
  const own = await f.site().open();
  await own.show("/tenants");
  await own.page.getByRole("link", { name: "default" }).first().waitFor();
  const keys: (string | undefined)[] = [];
  const answers = [503, 400, 409];
  await own.page.route(/\/v1\/silos/, async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    const status = answers[keys.length];
    keys.push(route.request().headers()["idempotency-key"]);
    const body = JSON.stringify({ message: `refused with ${status}`, request_id: randomUUID() });
    await route.fulfill({ status, contentType: "application/json", body });
  });
  await own.page.keyboard.press("c");
  await own.page.getByLabel("Name").last().fill("kept-key");
  for (const status of answers) {
    await own.page.getByLabel("Name").last().press("Enter");
    await own.page.getByText(`refused with ${status}`).waitFor();
  }
  const [first, second, third] = keys;
  expect([keys.length, second === first, third === first]).toEqual([3, true, false]);
  await own.page.context().close();
});

test("a page that is loaded during a failover waits for the server, and the user stays signed in", async () => {
  const own = await f.site().open();
  await own.page.route("**/v1/auth/whoami", (route) => route.fulfill({ status: 503, body: "{}" }));
  await own.page.goto(`${f.site().url}/console/nodes`);
  await own.page.getByText("The server does not answer").first().waitFor();
  await own.page.unroute("**/v1/auth/whoami");
  await own.page.getByRole("navigation", { name: "Main" }).waitFor();
  await own.page.context().close();
});

describe("if the user closes the dialog of a running action and opens another dialog,", () => {
  /** Cordons a node and closes the dialog before the server answers. Returns a function that answers the request. */
  async function cordonAndClose(hostname: string): Promise<(answer: (route: Route) => Promise<void>) => Promise<void>> {
    const { server_uuid, code } = await register(hostname);
    await call("POST", "/v1/cn-approvals", { code });
    const { page, show } = f.ui();
    const asked = Promise.withResolvers<Route>();
    await page.route(
      `**/v1/cns/${server_uuid}/placement`,
      (route) => route.request().method() === "PATCH" ? asked.resolve(route) : route.continue(),
    );
    await show(`/nodes/${server_uuid}`);
    await page.getByRole("button", { name: "Cordon t" }).press("t");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Working…" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Working…" }).waitFor({ state: "detached" });
    await page.keyboard.press("e");
    await page.getByLabel("Fault domain").fill("rack-7");
    return async (answer) => answer(await asked.promise);
  }

  async function expectOtherDialog(): Promise<void> {
    const { page } = f.ui();
    expect(await page.getByRole("dialog").getByRole("heading").textContent()).toBe("Edit the placement rules");
    expect(await page.getByLabel("Fault domain").inputValue()).toBe("rack-7");
    await page.keyboard.press("Escape");
  }

  test("the success of the first action is shown, and the other dialog stays", async () => {
    const answer = await cordonAndClose("r1-u4");
    await answer((route) => route.continue());
    await f.ui().page.getByRole("status").getByText("Cordon: done").waitFor();
    await expectOtherDialog();
  });

  test("the refusal of the first action is shown with its title, and the other dialog stays", async () => {
    const answer = await cordonAndClose("r1-u5");
    await answer((route) => route.fulfill({ status: 409, json: { message: "the node is being removed" } }));
    await f.ui().page.getByRole("status").getByText("Cordon: the node is being removed").waitFor();
    await expectOtherDialog();
  });
});
