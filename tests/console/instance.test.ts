// Tests the pages of a running instance in Chromium with a tenant's key: serial console, metrics, screen. The node
// agent is a compiled program. The browser and the agent use different servers.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { buildConsole } from "../../console/bundle.ts";
import { type ConsoleFixture, openConsoleFixture } from "../processes/console-fixture.ts";
import { type ConsolePage, launchChromium, openConsole, signInWithKey } from "../support/browser.ts";
import { lacking, needs } from "../support/optional-programs.ts";
import { CONSOLE_FILES } from "./site.ts";

const START_MS = 240_000;

let browser: Browser;
let f: ConsoleFixture;
let ui: ConsolePage;
let page: string;

beforeAll(async () => {
  if (lacking("chromium") !== null) return;
  await buildConsole(CONSOLE_FILES);
  [f, browser] = await Promise.all([openConsoleFixture(), launchChromium()]);
  ui = await openConsole(browser, f.other.url);
  await ui.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await signInWithKey(ui, f.g.key);
  page = `/instances/${f.instance.id}`;
}, START_MS);

afterAll(async () => {
  await browser?.close();
  await f?.close();
});

beforeEach((context) => needs(context, "chromium"));

/** The rows of the terminal: the visible rows, or their copy for screen readers. */
const terminal = () => ui.page.locator(".serial .xterm-rows, .serial .xterm-accessibility").first();
const hasText = (text: string) => terminal().filter({ hasText: text }).waitFor();

test("the serial console opens with the key o, and the keyboard alone can type, leave the terminal, pause and copy", async () => {
  await ui.show(page);
  await ui.page.getByRole("button", { name: "Open the console o" }).waitFor();
  await ui.page.keyboard.press("o");
  await ui.page.getByText("Connected.").waitFor();
  await ui.page.keyboard.type("marco");
  await ui.page.keyboard.press("Enter");
  await hasText("marco");
  await ui.page.keyboard.press("Control+F6");
  const pause = ui.page.getByRole("button", { name: "Pause" });
  expect(await pause.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  await ui.page.keyboard.press("Tab");
  await ui.page.keyboard.press("Enter");
  await ui.page.getByText("Copied").waitFor();
  const read = "navigator.clipboard.readText()";
  expect(await ui.page.evaluate(read)).toContain("marco");
  expect(ui.faults).toEqual([]);
});

test("a console that continues after a pause shows the output that arrived during the pause", async () => {
  const typing = await f.open(f.polled, { mode: "write", take_over: true });
  await ui.page.getByText("took the console over. You only watch now.").waitFor();
  await ui.page.getByRole("button", { name: "Pause" }).press("Enter");
  typing.type("while-paused\r");
  await expect.poll(typing.text).toContain("while-paused");
  expect(await terminal().textContent()).not.toContain("while-paused");
  await ui.page.getByRole("button", { name: "Continue" }).press("Enter");
  await hasText("while-paused");
  typing.socket.close();
});

test("the output of a guest cannot create a link", async () => {
  const opened: string[] = [];
  ui.page.on("dialog", (dialog) => {
    opened.push(dialog.message());
    return dialog.dismiss();
  });
  const typing = await f.open(f.polled, { mode: "write", take_over: true });
  await expect.poll(() => typing.controls.map(({ type }) => type)).toContain("ready");
  // The guest echoes its input.
  typing.type("\x1b]8;;https://evil.example/\x07see-here\x1b]8;;\x07\r");
  await hasText("see-here");
  const text = ui.page.locator(".serial .xterm-rows span", { hasText: "see-here" });
  await text.click({ force: true });
  // The terminal underlines every link.
  expect(await text.getAttribute("class")).toBeNull();
  expect(opened).toEqual([]);
  typing.socket.close();
});

test("the console's log can be downloaded", async () => {
  const [download] = await Promise.all([
    ui.page.waitForEvent("download"),
    ui.page.getByRole("link", { name: "Download the log" }).press("Enter"),
  ]);
  expect(download.suggestedFilename()).toBe("web1.log");
});

test("the console has no accessibility fault and does not violate the content security policy", async () => {
  expect(await ui.axe()).toEqual([]);
  expect(ui.faults).toEqual([]);
});

test("metrics are shown as charts and with their newest value as text", async () => {
  await f.db.query(
    `insert into instance_metrics select $1, berth_now() - make_interval(secs => 15 * n), 30 - n, 1073741824, 0, 0, 0, 0
       from generate_series(1, 4) n`,
    [f.instance.id],
  );
  await ui.show(`${page}/metrics`);
  await ui.page.locator(".chart canvas").nth(3).waitFor();
  expect(await ui.page.getByRole("heading", { name: "Node memory" }).textContent()).toContain("1 GiB");
  expect(await ui.axe()).toEqual([]);
  expect(ui.faults).toEqual([]);
});

test("the load of seven days is shown as charts, and the page shows that the node is simulated", async () => {
  await f.db.query(
    `insert into instance_load
       select $1, 'hour', date_trunc('hour', berth_now()) - make_interval(hours => n), 0.5, 1, 2147483648, 0, 0, 0, 0, true
         from generate_series(1, 4) n`,
    [f.instance.id],
  );
  await ui.show(`${page}/metrics?by=hour`);
  await ui.page.locator(".chart canvas").nth(3).waitFor();
  expect(await ui.page.getByRole("heading", { name: "Node memory" }).textContent()).toContain("2 GiB");
  expect(await ui.page.getByText("The node is simulated").count()).toBe(1);
  await ui.page.getByRole("button", { name: "6 h" }).click();
  await ui.page.getByText("No load yet").waitFor();
  expect(await ui.axe()).toEqual([]);
  expect(ui.faults).toEqual([]);
});

test("the page shows the screen, and the key r takes another picture", async () => {
  await ui.show(`${page}/screen`);
  const canvas = ui.page.getByRole("img", { name: "The screen of web1" });
  await canvas.waitFor();
  expect(await canvas.evaluate((at) => at.getAttribute("width"))).toBe("1");
  const [again] = await Promise.all([
    ui.page.waitForResponse((response) => response.url().endsWith("/screenshot")),
    ui.page.keyboard.press("r"),
  ]);
  expect(again.status()).toBe(200);
  expect(ui.faults).toEqual([]);
});

test("if the user leaves the page while its console connects, the console is not opened", async () => {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await ui.page.route(/\/console-ticket$/, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue();
  });
  await ui.show(`${page}/console`);
  await asked.promise;
  await ui.show(page);
  const sockets: string[] = [];
  ui.page.on("websocket", (socket) => void socket.on("close", () => sockets.push(socket.url())));
  const answered = ui.page.waitForResponse(/\/console-ticket$/);
  held.resolve();
  expect((await answered).status()).toBe(201);
  await expect.poll(() => sockets.length).toBe(1);
  await ui.page.unroute(/\/console-ticket$/);
});

test("the action reset presses the reset button of the machine", async () => {
  await ui.show(page);
  await ui.page.getByRole("button", { name: "Open the console o" }).waitFor();
  await ui.page.keyboard.press(".");
  await ui.page.keyboard.type("reset");
  await ui.page.keyboard.press("Enter");
  await ui.page.getByRole("heading", { name: "Reset" }).waitFor();
  await ui.page.keyboard.press("Enter");
  await ui.page.getByRole("link", { name: "instance-lifecycle" }).waitFor();
});

test("the page says that the user is still signed in if the server does not end the session", async () => {
  const answers = [503, null];
  await ui.page.route(/\/v1\/console\/session$/, async (route) => {
    const status = answers.shift() ?? null;
    if (status === null) await route.continue();
    else await route.fulfill({ status, json: { message: "no database", request_id: "1" } });
  });
  const button = ui.page.getByRole("button", { name: "Sign out" });
  await button.click();
  await ui.page.getByText("You are still signed in: no database").waitFor();
  await button.click();
  await ui.page.getByRole("button", { name: "Sign in" }).first().waitFor();
});
