// Tests that a control plane starts only if the URLs of its database name one database.
import { afterEach, beforeEach, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { openClient } from "../../src/db/pool.ts";
import { openControlPlane } from "../../src/wiring.ts";
import { emptyDatabase, type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";

let site: FreshDatabase;
let copy: FreshDatabase;
beforeEach(async () => {
  site = await emptyDatabase();
  copy = await freshDatabase();
});
afterEach(async () => {
  await site?.drop();
  await copy?.drop();
});

const open = async (variable: string, url: string) => {
  const config = readConfig({ BERTH_ROOT_KEY: ROOT_KEY, BERTH_SECRET_KEY: "5e".repeat(32), [variable]: url });
  const plane = await openControlPlane({ config, databaseUrl: copy.url, resident: false, show: () => {} });
  await plane.close();
};

async function tablesOfSite(): Promise<number> {
  const client = await openClient({ url: site.url });
  try {
    const found = await client.query("select from pg_class where relnamespace = 'public'::regnamespace");
    return found.rowCount!;
  } finally {
    await client.end();
  }
}

for (const variable of ["BERTH_OWNER_DATABASE_URL", "BERTH_DIRECT_DATABASE_URL"]) {
  test(`a control plane on a copy does not start if ${variable} names the original, and does not migrate the original`, async () => {
    await expect(open(variable, site.url)).rejects.toThrow(`${variable} names another database than DATABASE_URL`);
    expect(await tablesOfSite()).toBe(0);
  });

  test(`a control plane starts if ${variable} names the same database in another way`, async () => {
    await open(variable, `${copy.url}?application_name=owner`);
  });
}
