// Tests in Chromium which actions the console offers to operators who are not the root operator.
import { expect, test } from "vitest";
import type { Capability } from "../../src/contract/enums.ts";
import { addNode } from "../compute/compute-fixture.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

let g: InstanceFixture;
let web1: { readonly id: string };

const f = useConsoleSite(async (site) => {
  serveJobs(await addNode(site, {}, { hostname: "r1-u1" }));
  g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  web1 = okOf(await makeInstance(g, { name: "web1" }));
});

/** Creates a user with these capabilities and system-read, and opens the console as this user. */
async function signedIn(username: string, ...capabilities: Capability[]): Promise<ConsolePage> {
  const body = { username, password: "correct horse battery" };
  const rights = { capabilities: ["system-read", ...capabilities] };
  okOf(await f.site().call("POST", "/v1/system/users", { body: { ...body, ...rights } }));
  const { access_token } = okOf(await f.site().call("POST", "/v1/auth/login", { key: null, body }));
  const key = { description: "console", scope: "full" };
  const made = okOf(await f.site().call("POST", "/v1/auth/api-keys", { key: access_token, body: key }));
  return await f.site().open({ key: made.secret });
}

const button = ({ page }: ConsolePage, name: RegExp) => page.getByRole("main").getByRole("button", { name });
const reasonOf = async (as: ConsolePage, name: RegExp) => await button(as, name).getAttribute("title");

test("a user with system-operate can create a user, but not a NIC tag", async () => {
  const as = await signedIn("olga", "system-operate");
  await as.show("/users");
  await button(as, /^Create a user/).click();
  const dialog = as.page.getByRole("dialog");
  await dialog.getByLabel("User name").fill("nina");
  await dialog.getByLabel("Password").fill("correct horse battery");
  await dialog.getByRole("button", { name: "Create" }).click();
  await as.page.getByText("User nina is created").waitFor();
  const users = okOf(await f.site().call("GET", "/v1/system/users"));
  expect(JSON.stringify(users)).toContain('"nina"');
  await as.show("/networks");
  expect(await reasonOf(as, /^Create a NIC tag/)).toBe(
    "Only users with the capability system-config-write may do this",
  );
  await as.page.context().close();
}, LIMIT_MS);

test("a user with system-config-write can create a NIC tag, but not a user", async () => {
  const as = await signedIn("carl", "system-config-write");
  await as.show("/networks");
  await button(as, /^Create a NIC tag/).click();
  const dialog = as.page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("uplink");
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect.poll(async () => JSON.stringify(okOf(await f.site().call("GET", "/v1/system/nic-tags"))), {
    timeout: LIMIT_MS,
  }).toContain('"uplink"');
  await as.show("/users");
  expect(await reasonOf(as, /^Create a user/)).toBe("Only users with the capability system-operate may do this");
  await as.page.context().close();
}, LIMIT_MS);

test(
  "an operator outside of the tenant may not stop the tenant's instance, but with system-operate may reset it",
  async () => {
    const members = "Only members of the tenant may do this";
    const reader = await signedIn("rita");
    const operator = await signedIn("oskar", "system-operate");
    for (const [as, reset] of [[reader, members], [operator, null]] as const) {
      await as.show(`/instances/${web1.id}`);
      await button(as, /^Stop t/).waitFor();
      expect(await reasonOf(as, /^Stop t/)).toBe(members);
      await as.page.keyboard.press(".");
      await as.page.keyboard.type("reset");
      const option = as.page.getByRole("option").filter({ hasText: "Reset" }).first();
      await option.waitFor();
      expect(await option.getAttribute("aria-disabled")).toBe(reset === null ? null : "true");
      await as.page.keyboard.press("Escape");
      await as.show("/me");
      expect(await reasonOf(as, /^Create an API key/)).toBeNull();
      await as.page.context().close();
    }
  },
  LIMIT_MS,
);

test("a member of the tenant and the root operator may stop the tenant's instance", async () => {
  for (const as of [await f.site().open({ key: g.key }), f.ui()]) {
    await as.show(`/instances/${web1.id}`);
    await button(as, /^Stop t/).waitFor();
    expect(await reasonOf(as, /^Stop t/)).toBeNull();
  }
}, LIMIT_MS);
