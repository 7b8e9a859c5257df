// Tests in Chromium that each part of a page shows the server's refusals of its own reads, and that a page announces a
// repeated refusal only once.
import { expect, test } from "vitest";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { signInWithKey } from "../support/browser.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 240_000;
const TABS = ["overview", "hardware", "instances", "setup", "placement", "load", "activity"];
const READ_AGAIN = "document.dispatchEvent(new Event('visibilitychange'))";

let node: Node;

const f = useConsoleSite(async (site) => {
  node = await addNode(site, {}, { hostname: "r1-u1" });
});

/** Returns the path of an API request. Returns null for other requests, for `/v1/changes` and for paths of sessions. */
function askedPath(url: string): string | null {
  const { pathname } = new URL(url);
  return /^\/v[12]\/(?!changes|auth)/.test(pathname) ? pathname : null;
}

test("each part of a node's page shows its own refusal, at the first read and at a later read", async () => {
  const own = await f.site().open();
  /** For each path of the API, the tab that requests it first. */
  const tabOf = new Map<string, string>();
  let tab = "";
  own.page.on("request", (request) => {
    const path = askedPath(request.url());
    if (tab !== "" && path !== null && !tabOf.has(path)) tabOf.set(path, tab);
  });
  // Leaves the front page, which the browser shows first, because that page would also send requests.
  await own.page.goto("about:blank");
  // Every tab reads the placement rules for its actions, but only the tab `placement` shows them. So this tab is first.
  for (tab of ["placement", ...TABS]) {
    await own.page.goto(`${f.site().url}/console/nodes/${node.server_uuid}?tab=${tab}`);
    await own.page.getByRole("heading", { name: "r1-u1" }).waitFor();
    await own.settled();
  }
  tab = "";
  const silent: string[] = [];
  for (const [path, at] of tabOf) {
    const refuse = () =>
      own.page.route(
        (url) => url.pathname === path,
        (route) => route.fulfill({ status: 403, json: { message: "refused for a test" } }),
      );
    const problem = own.page.locator(".problem").getByText("refused for a test").first();
    const expectShown = (read: string) => problem.waitFor().catch(() => silent.push(`${at}: ${path}, ${read} read`));
    const address = `${f.site().url}/console/nodes/${node.server_uuid}?tab=${at}`;
    await own.page.goto(address);
    await own.page.getByRole("heading", { name: "r1-u1" }).waitFor();
    await own.settled();
    await refuse();
    await own.page.evaluate(READ_AGAIN);
    await expectShown("later");
    await own.page.goto(address);
    await expectShown("first");
    await own.page.unrouteAll();
  }
  expect(tabOf.size).toBeGreaterThan(7);
  expect(silent).toEqual([]);
  await own.page.context().close();
}, LIMIT_MS);

test("a part of a page whose code cannot be loaded leaves the heading and the title as they are", async () => {
  const own = await f.site().open({ key: null });
  await own.page.route(/\/more-pages-[^/]*\.js$/, (route) => route.abort());
  await signInWithKey(own, ROOT_KEY);
  await own.show(`/nodes/${node.server_uuid}`);
  await own.settled();
  await own.page.getByRole("button", { name: "hardware" }).click();
  await own.page.getByRole("alert").getByText("This part of the page could not be loaded.").waitFor();
  expect(await own.page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["r1-u1"]);
  expect(await own.page.title()).toBe("r1-u1 · Berth");
  await own.page.context().close();
}, LIMIT_MS);

test("without the placement rules, the page of a node does not offer to cordon the node", async () => {
  const own = await f.site().open();
  await own.page.route("**/placement", (route) => route.fulfill({ status: 503, json: { message: "no answer" } }));
  await own.show(`/nodes/${node.server_uuid}`);
  const cordon = own.page.getByRole("button", { name: /^Cordon/ });
  await expect.poll(() => cordon.getAttribute("title")).toBe("The placement rules could not be read: no answer");
  await own.page.context().close();
}, LIMIT_MS);

test(
  "if the user leaves the placement form before the answer arrives, no message says that the action is done",
  async () => {
    const own = await f.site().open();
    const asked = Promise.withResolvers<() => Promise<void>>();
    await own.page.route("**/placement/explain", (route) => asked.resolve(() => route.continue()));
    await own.show("/placement");
    await own.page.getByRole("button", { name: "Explain" }).click();
    const answer = await asked.promise;
    await own.show("/nodes");
    const answered = own.page.waitForResponse("**/placement/explain");
    await answer();
    await answered;
    await own.settled();
    expect(await own.page.locator(".toasts").innerText()).not.toContain("done");
    await own.page.context().close();
  },
  LIMIT_MS,
);

test("a refusal that each read repeats is announced once, and its request id is the id of the last read", async () => {
  const own = await f.site().open();
  const refuse = (request_id: string) =>
    own.page.route("**/v1/silos", (route) => route.fulfill({ status: 503, json: { message: "refused", request_id } }));
  await refuse("first-id");
  await own.page.goto(`${f.site().url}/console/tenants`);
  const problem = own.page.locator(".problem");
  await problem.getByText("first-id").waitFor();
  // A screen reader announces an alert at each change of its content.
  await own.page.evaluate(`{
    window.announced = 0;
    const alert = document.querySelector(".problem [role=alert]");
    const observer = new MutationObserver(() => window.announced++);
    observer.observe(alert, { childList: true, characterData: true, subtree: true });
    observer.observe(alert.parentElement.parentElement, { childList: true });
  }`);
  await refuse("second-id");
  await own.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await problem.getByText("second-id").waitFor();
  expect(await own.page.evaluate("window.announced")).toBe(0);
  expect(await problem.getByRole("alert").innerText()).toBe("refused");
  await own.page.context().close();
}, LIMIT_MS);
