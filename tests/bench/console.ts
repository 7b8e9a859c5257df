// Measures the web console in Chromium, with a server that has 10,000 nodes. Prints the time until the first row of a
// list, and the run time of scripts until then, with the same times of an empty page from a bare server. Compares other
// figures with budgets: the sizes of the files, the number of elements of the page, the time of reading one window of
// the list, and the time until a page shows a change by another caller. Single run: `deno run -A
// tests/bench/console.ts`, with --runs=N. Needs Chromium.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { buildConsole, type Built, FIRST_LOAD_BYTES_MAX } from "../../console/bundle.ts";
import { openClient } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { launchChromium, openConsole, signInWithKey } from "../support/browser.ts";
import { lacking } from "../support/optional-programs.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { median } from "./report.ts";

const KB = 1_000;
/** The budgets of the sizes, in bytes as sent. The next constants are the other budgets. */
const BUDGETS = { first: FIRST_LOAD_BYTES_MAX, pages: 150 * KB, terminal: 100 * KB, charts: 30 * KB } as const;
const ELEMENTS_MAX = 400;
const WINDOW_MS_MAX = 50;
const SEEN_MS_MAX = 500;

const NODES = 10_000;
const WINDOW_READS = 50;
/** The row that is changed. It is the first row of the list. */
const FIRST = "many-00001";
const CONSOLE_FILES = fileURLToPath(new URL("../../console/dist", import.meta.url));
const EMPTY_PAGE = `<!doctype html><title>empty</title><table><tbody></tbody></table><script type="module">
document.querySelector("tbody").innerHTML = '<tr><td><a href="/">row</a></td></tr>';</script>`;

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" } } });
const runs = Number(values.runs);

const missing = lacking("chromium");
if (missing !== null) console.log(`the web console is not measured: ${missing}`);
else await measure();
// Ends the process, because the service process of esbuild continues to run.
process.exit(0);

async function measure(): Promise<void> {
  printSizes(await buildConsole(CONSOLE_FILES));
  const cluster = await ownCluster();
  const DATABASE_URL = databaseUrl(cluster.url, "postgres");
  const server = await startServer({ env: { DATABASE_URL } });
  const empty = createServer((_request, response) =>
    void response.writeHead(200, { "content-type": "text/html" }).end(EMPTY_PAGE)
  );
  await new Promise<void>((listening) => empty.listen(0, "127.0.0.1", listening));
  const browser = await launchChromium();
  try {
    await createNodes(server.url, DATABASE_URL);
    await measurePages(browser, server.url, `http://127.0.0.1:${(empty.address() as AddressInfo).port}/`);
  } finally {
    await browser.close();
    await server.stop();
    empty.close();
    await cluster.remove();
  }
}

function printSizes({ first, later }: { readonly first: readonly Built[]; readonly later: readonly Built[] }): void {
  const sum = (files: readonly Built[]) => files.reduce((bytes, { gzip_bytes }) => bytes + gzip_bytes, 0);
  const [terminal, charts] = [later.filter(isNamed("screen")), later.filter(isNamed("chart"))];
  const pages = later.filter((file) => !terminal.includes(file) && !charts.includes(file));
  const sizes = { first: sum(first), pages: sum(first) + sum(pages), terminal: sum(terminal), charts: sum(charts) };
  for (const [what, bytes] of Object.entries(sizes)) {
    const max = BUDGETS[what as keyof typeof sizes];
    report(`${what}: compressed files`, `${(bytes / KB).toFixed(1)} KB`, bytes <= max, `${max / KB} KB`);
  }
}

function isNamed(prefix: string): (file: Built) => boolean {
  return ({ name }) => name.startsWith(`${prefix}-`) && name.endsWith(".js");
}

/** Creates one node through the API, and copies its row. */
async function createNodes(server_url: string, database_url: string): Promise<void> {
  const server_uuid = randomUUID();
  const body = { server_uuid, hostname: "first", sysinfo: { UUID: server_uuid } };
  const { claim_code: code } = await call(server_url, "POST", "/v1/agent/register", body);
  await call(server_url, "POST", "/v1/cn-approvals", { code });
  // A disabled node needs no key, so its row can be copied without the key.
  await call(server_url, "POST", `/v1/cns/${server_uuid}/disable`);
  const client = await openClient({ url: database_url, statementLimit_ms: 60_000 });
  try {
    await client.query(
      `insert into cn select (jsonb_populate_record(cn, jsonb_build_object(
           'server_uuid', gen_random_uuid(), 'hostname', 'many-' || lpad(n::text, 5, '0'), 'bound_api_key_id', null,
           'poll_token_sha256', null, 'claim_code', null))).*
         from cn, generate_series(1, $1::int) n where hostname = 'first'`,
      [NODES],
    );
    await client.query("analyze cn");
  } finally {
    await client.end();
  }
}

async function measurePages(browser: Browser, server_url: string, empty_url: string): Promise<void> {
  const ui = await openConsole(browser, server_url);
  await signInWithKey(ui, ROOT_KEY);
  const list = `${server_url}/console/nodes?q=many-`;
  const [full, empty]: [Load[], Load[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    empty.push(await load(ui.page, empty_url));
    full.push(await load(ui.page, list));
  }
  for (const key of ["script_ms", "row_ms"] as const) {
    const of = (loads: readonly Load[]) => median(loads.map((each) => each[key])) ?? NaN;
    const what = key === "script_ms" ? "script until the first row" : "first row";
    console.log(`${what}: ${of(full).toFixed(0)} ms; an empty page: ${of(empty).toFixed(0)} ms (medians of ${runs})`);
  }
  await ui.page.keyboard.press("End");
  await ui.page.getByRole("link", { name: `many-${NODES}` }).waitFor();
  const elements = await ui.page.locator("*").count();
  report(`elements with ${NODES} nodes`, String(elements), elements < ELEMENTS_MAX, String(ELEMENTS_MAX));

  const reads: number[] = [];
  for (let read = 0; read < WINDOW_READS; read++) {
    const began = performance.now();
    await call(server_url, "GET", `/v1/system/nodes?limit=50&offset=${read * NODES / WINDOW_READS}`);
    reads.push(performance.now() - began);
  }
  const window_ms = median(reads) ?? NaN;
  report("one window of the list", `${window_ms.toFixed(1)} ms`, window_ms <= WINDOW_MS_MAX, `${WINDOW_MS_MAX} ms`);

  const seen_ms = await timeUntilSeen(ui.page, server_url);
  report("a change is on screen", `${seen_ms.toFixed(0)} ms`, seen_ms <= SEEN_MS_MAX, `${SEEN_MS_MAX} ms`);
}

type Load = { readonly script_ms: number; readonly row_ms: number };

/** Loads a page and waits for the first link in its table. */
async function load(page: Page, url: string): Promise<Load> {
  const cdp = await page.context().newCDPSession(page);
  try {
    await cdp.send("Performance.enable");
    const script = async () => {
      const { metrics } = await cdp.send("Performance.getMetrics");
      return 1_000 * (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? NaN);
    };
    const began = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    const before_ms = await script();
    await page.locator("tbody a").first().waitFor();
    return { row_ms: performance.now() - began, script_ms: await script() - before_ms };
  } finally {
    await cdp.detach();
  }
}

/** Changes the role repeatedly through the API. Returns the median time until the page shows the change. */
async function timeUntilSeen(page: Page, server_url: string): Promise<number> {
  await page.locator(".link.live").waitFor();
  await page.keyboard.press("Home");
  const row = page.locator("tbody tr").filter({ hasText: FIRST });
  await row.waitFor();
  const { items } = await call(server_url, "GET", `/v1/system/nodes?limit=1&q=${FIRST}`);
  const times: number[] = [];
  for (let turn = 0; turn < runs; turn++) {
    const role = turn % 2 === 0 ? "edge" : "both";
    const began = performance.now();
    await call(server_url, "POST", `/v1/cns/${items[0].server_uuid}/role`, { role });
    await row.getByText(role, { exact: true }).waitFor();
    times.push(performance.now() - began);
  }
  return median(times) ?? NaN;
}

// deno-lint-ignore no-explicit-any -- the shape depends on the path
async function call(server_url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${server_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

function report(what: string, value: string, isMet: boolean, budget: string): void {
  console.log(`${what}: ${value}, budget ${budget}: ${isMet ? "met" : "missed"}`);
}
