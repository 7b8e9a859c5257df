import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { siteFiles } from "../../index-builder/publish/assemble.ts";
import { writeFolder } from "../../index-builder/publish/site.ts";
import { imageRows } from "../../index-builder/pages/image-rows.ts";
import { type DistroTree, imagesOf } from "../../index-builder/tree/tree.ts";
import { debian } from "../../index-builder/vendors/debian.ts";
import { ubuntu } from "../../index-builder/vendors/ubuntu.ts";
import { lacking } from "../support/optional-programs.ts";
import { type Browser, startBrowser } from "./chromium.ts";
import { builtFrom } from "./recorded-vendor.ts";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 320, height: 640 };
const EVIL = `</script><img src=x onerror="document.title='taken'">`;
let folder: string, browser: Browser, page: string, rows: ReturnType<typeof imageRows>;

const why_not = lacking("chromium");

beforeAll(async () => {
  if (why_not !== null) return;
  folder = await mkdtemp(join(tmpdir(), "index-page-"));
  const trees: DistroTree[] = [];
  for (const vendor of [ubuntu, debian]) {
    trees.push((await builtFrom(vendor, [`wide/${vendor.id}`, "t0"])).outcome.tree);
  }
  rows = imageRows(imagesOf({ distros: trees }));
  await writeFolder(folder, siteFiles({ distros: trees }));
  const evil = structuredClone(trees[0]!);
  evil.distro.releases[0]!.title = EVIL;
  await writeFolder(join(folder, "evil"), siteFiles({ distros: [evil] }));
  page = pathToFileURL(join(folder, "index.html")).href;
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const shown = () => browser.evaluate<number>("document.querySelectorAll('#list > li').length");
const type = (text: string) =>
  browser.evaluate(`search.value = ${JSON.stringify(text)}; search.dispatchEvent(new Event("input"))`);
const choose = (field: string, value: string) =>
  browser.evaluate(`selects.${field}.value = "${value}"; selects.${field}.dispatchEvent(new Event("change"))`);

const inBrowser = test.skipIf(why_not !== null);

inBrowser("the page opened from a disk shows every image without a policy violation", async () => {
  expect(await browser.open(page, DESK)).toEqual([]);
  expect(rows.length).toBeGreaterThan(8);
  expect(await shown()).toBe(rows.length);
});

inBrowser("search words must all match, in any field", async () => {
  await browser.open(page, DESK);
  await type("debian aarch64 trixie");
  expect(await shown()).toBe(
    rows.filter((row) => row.distro === "debian" && row.arch === "aarch64" && row.release === "trixie").length,
  );
  await type("nothing has this name");
  expect(await shown()).toBe(0);
  expect(await browser.evaluate("count.textContent")).toContain("Nothing matches");
});

inBrowser("each filter narrows the list and is in the address; Clear removes the filter", async () => {
  for (const field of ["distro", "release", "arch", "variant", "format"] as const) {
    await browser.open(page, DESK);
    const value = rows.at(-1)![field];
    await choose(field, value);
    expect(await shown()).toBe(rows.filter((row) => row[field] === value).length);
    const address = await browser.evaluate<string>("location.href");
    await browser.open(address, DESK);
    expect(await browser.evaluate(`selects.${field}.value`)).toBe(value);
    await browser.evaluate("document.getElementById('clear').click()");
    expect(await shown()).toBe(rows.length);
  }
});

inBrowser("the buttons copy the URL, the digest and a command that checks it", async () => {
  await browser.open(page, DESK);
  const texts = await browser.evaluate<string[]>(
    "[...document.querySelector('#list > li').querySelectorAll('button')].map((button) => button.dataset.copy)",
  );
  const first = rows[0]!;
  const file = new URL(first.url).pathname.split("/").at(-1);
  expect(texts).toEqual([
    first.url,
    first.digest!.value,
    `curl -fL -o '${file}' '${first.url}' && echo '${first.digest!.value}  ${file}' | sha256sum -c -`,
  ]);
  const copied = await browser.evaluate<string>(`new Promise((resolve) => {
    const copies = [];
    document.addEventListener("copy", () => copies.push(String(document.activeElement.value)), true);
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.querySelector("#list button").click();
    setTimeout(() => resolve(copies.join()), 100);
  })`);
  expect(copied).toBe(first.url);
});

inBrowser("a screen of 320 pixels needs no horizontal scrolling", async () => {
  await browser.open(page, PHONE);
  expect(await browser.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  expect(await shown()).toBe(rows.length);
});

inBrowser("markup in a vendor's text stays text", async () => {
  await browser.open(pathToFileURL(join(folder, "evil/index.html")).href, DESK);
  expect(await browser.evaluate("document.title")).toBe("Cloud images");
  expect(await browser.evaluate("document.querySelectorAll('main img').length")).toBe(0);
  expect(await browser.evaluate("list.textContent")).toContain("onerror");
});

inBrowser("the API page has no script and no broken link", async () => {
  expect(await browser.open(pathToFileURL(join(folder, "docs/index.html")).href, PHONE)).toEqual([]);
  expect(await browser.evaluate("document.scripts.length")).toBe(0);
  expect(
    await browser.evaluate(
      "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.getElementById(a.hash.slice(1))).length",
    ),
  ).toBe(0);
  expect(await browser.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
});
