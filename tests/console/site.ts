// Opens the web console for browser tests, with the built files, a server process with its own database, and Chromium.
// Tests also call the API as the root operator to create the objects that a page shows.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { buildConsole } from "../../console/bundle.ts";
import type { Db } from "../../src/db/pool.ts";
import { openPool } from "../../src/db/pool.ts";
import type { Node } from "../compute/compute-fixture.ts";
import { call } from "../processes/console-fixture.ts";
import { type ConsolePage, launchChromium, openConsole, signInWithKey } from "../support/browser.ts";
import { joining, type TestControlPlane } from "../support/control-plane.ts";
import { freshDatabase } from "../support/database.ts";
import { lacking, needs } from "../support/optional-programs.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The folder with the console's files that a server serves. */
export const CONSOLE_FILES = fileURLToPath(new URL("../../console/dist", import.meta.url));
/** The time limit of the first build and of a server's start on a busy machine, in milliseconds. */
const START_MS = 180_000;

export type ConsoleSite =
  & Pick<TestControlPlane, "call" | "register" | "approve" | "approvedNode">
  & {
    readonly url: string;
    readonly databaseUrl: string;
    /** A database connection of the owner of the database. */
    readonly db: Db;
    /** Ends the server at once, calls `meanwhile`, and starts another server on the same port and database. */
    restart(meanwhile: () => Promise<void>): Promise<void>;
    /**
     * Opens the console in a new browser context. By default it signs in as the root operator. With the key `null` it
     * does not sign in.
     */
    open(as?: { readonly key?: string | null; readonly width?: number }): Promise<ConsolePage>;
    close(): Promise<void>;
  };

export async function openConsoleSite(env: Readonly<Record<string, string>> = {}): Promise<ConsoleSite> {
  await buildConsole(CONSOLE_FILES);
  const database = await freshDatabase();
  const images = await temporaryFolder("images");
  const own = { DATABASE_URL: database.url, BERTH_LAB: "1", BERTH_IMAGE_DIR: images.path };
  const start = (PORT = "0") => startServer({ env: { ...own, PORT, ...env } });
  const [first, browser] = await Promise.all([start(), launchChromium()]);
  let server = first;
  const db = openPool({ url: database.url, connectionsMax: 2, applicationName: "test" });
  const toServer: TestControlPlane["call"] = (method, path, options) => call(server.url, method, path, options);
  return {
    url: server.url,
    databaseUrl: database.url,
    db,
    call: toServer,
    ...joining(toServer),
    restart: async (meanwhile) => {
      await server.kill();
      await meanwhile();
      server = await start(String(server.port));
    },
    open: async ({ key = ROOT_KEY, width } = {}) => {
      const ui = await openConsole(browser, server.url, width);
      if (key !== null) await signInWithKey(ui, key);
      return ui;
    },
    close: async () => {
      await browser.close();
      await db.close();
      await server.stop();
      await database.drop();
      await images.remove();
    },
  };
}

/** Opens a site for the tests of a file, and a page of the root operator. Without Chromium, the tests are skipped. */
export function useConsoleSite(prepare: (site: ConsoleSite) => Promise<void> = () => Promise.resolve()) {
  let site: ConsoleSite | undefined;
  let ui: ConsolePage | undefined;
  beforeAll(async () => {
    if (lacking("chromium") !== null) return;
    site = await openConsoleSite();
    await prepare(site);
    ui = await site.open();
  }, START_MS);
  afterAll(() => site?.close());
  beforeEach((context) => needs(context, "chromium"));
  return {
    /** Whether the site is open. It is not open on a machine without Chromium, where no test runs. */
    isOpen: () => site !== undefined,
    site: (): ConsoleSite => present(site),
    ui: (): ConsolePage => present(ui),
  };
}

/** Acts as the agent of a node and does its jobs until the server ends. */
export function serveJobs(node: Node): void {
  const serve = async () => {
    for (;;) await node.complete(await node.take());
  };
  serve().catch(() => {});
}

function present<T>(opened: T | undefined): T {
  if (opened === undefined) throw new Error("the site is not open");
  return opened;
}
