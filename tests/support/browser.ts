// Opens the web console of a server in Chromium, and collects every violation of the console's content security policy,
// every request to another origin and every uncaught error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page, type Request } from "playwright-core";
import { present } from "./optional-programs.ts";

export type ConsolePage = {
  readonly page: Page;
  /** Violations of the content security policy, requests to other origins, and uncaught errors until now. */
  readonly faults: readonly string[];
  /** Opens a page of the console without loading the document again. */
  show(path: string): Promise<void>;
  /** Waits until no request runs, except requests to /v1/changes, which wait for changes. */
  settled(): Promise<void>;
  /** Returns a text for each element that breaks an accessibility rule: the rule and the element. */
  axe(): Promise<readonly string[]>;
};

/**
 * Milliseconds for which a page waits for an element. The limit of a test is longer, so a failure names the element.
 */
const WAIT_MS = 20_000;

const LOOK_MS = 25;
const QUIET_LOOKS = 3;

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: present("chromium"), args: ["--no-sandbox", "--disable-gpu"] });
}

/** Opens /console/ in a new context, which has no cookies and no storage. */
export async function openConsole(browser: Browser, url: string, width = 1280, height = 800): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy|Trusted/i.test(message.text())) faults.push(message.text());
  });
  const running = new Set<Request>();
  page.on("request", (request) => {
    if (!request.url().includes("/v1/changes")) running.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"] as const) {
    page.on(end as "requestfinished", (request) => running.delete(request));
  }
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) faults.push(`requests ${request.url()}`);
  });
  await page.goto(`${url}/console/`);
  return {
    page,
    faults,
    show: async (path) => {
      await showPath(page, path);
      await page.locator("h1").first().waitFor();
    },
    settled: async () => {
      // A page may send another request after it gets an answer, so several checks in a row must find no request.
      for (let quiet = 0; quiet < QUIET_LOOKS;) {
        await page.waitForTimeout(LOOK_MS);
        quiet = running.size === 0 ? quiet + 1 : 0;
      }
    },
    axe: () => axeOf(page),
  };
}

/**
 * Shows a path of the console without loading the document again. Unsaved input is lost: the console asks no question.
 */
export async function showPath(page: Page, path: string): Promise<void> {
  await page.evaluate(`{
    const { confirm } = window;
    window.confirm = () => true;
    history.pushState(null, "", ${JSON.stringify(`/console${path}`)});
    dispatchEvent(new PopStateEvent("popstate"));
    window.confirm = confirm;
  }`);
}

/** Signs in with an API key, without the mouse. */
export async function signInWithKey({ page }: ConsolePage, key: string): Promise<void> {
  await page.getByRole("button", { name: "API key" }).press("Enter");
  await page.getByLabel("API key").last().focus();
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function axeOf(page: Page): Promise<readonly string[]> {
  // The debugger runs this script, because the page's content security policy refuses strings as scripts.
  const cdp = await page.context().newCDPSession(page);
  try {
    await cdp.send("Runtime.evaluate", { expression: readFileSync(AXE, "utf8") });
    const { result } = await cdp.send("Runtime.evaluate", {
      expression: `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
        JSON.stringify(violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    return JSON.parse(result.value);
  } finally {
    await cdp.detach();
  }
}
