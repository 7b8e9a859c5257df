// Reads lists of a large site with the compiled opsctl: a search for objects of one kind, the users of one tenant, and
// usage that takes several pages. The server has the permissions of `task start`.
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { openClient } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, run, type RunOptions } from "./executables.ts";

/** More projects than opsctl reads in one page of usage. A page has 1,000 rows. */
const PROJECTS_WITH_USAGE = 1_201;
const MANIFEST = `
silos: [{ name: north }]
tenants: [{ silo: north, name: web }]
projects: [{ silo: north, tenant: web, name: web-shop }, { silo: north, tenant: default, name: web-blog }]
`;

let database: FreshDatabase;
let server: ServerProcess;
let home: TemporaryFolder;

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  home = await temporaryFolder("home");
  server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
  await printed("apply -f -", { typed: MANIFEST });
}, 180_000);

afterAll(async () => {
  await server?.kill();
  await database?.drop();
  await home?.remove();
});

/** Runs opsctl and returns its output. The exit code must be 0. */
async function printed(argv: string, options: RunOptions = {}): Promise<string> {
  const env = { HOME: home.path, OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  const { code, out, err } = await run("opsctl", argv.split(" "), { env, ...options });
  expect(code, `opsctl ${argv}: ${err}`).toBe(EXIT.ok);
  return out;
}

async function sql(text: string, values: readonly unknown[] = []): Promise<void> {
  const client = await openClient({ url: database.url });
  await client.query(text, [...values]);
  await client.end();
}

test("search --kind finds only objects of this kind", async () => {
  expect(await printed("search web --kind tenant -o csv --no-headers --columns kind,name")).toBe("tenant,web\n");
  const projects = await printed("search web --kind project -o csv --no-headers --columns kind,name --sort-by name");
  expect(projects).toBe("project,web-blog\nproject,web-shop\n");
  const all = await printed("search web -o csv --no-headers --columns kind,name");
  expect(all.trim().split("\n").toSorted()).toEqual(["project,web-blog", "project,web-shop", "tenant,web"]);
});

test("user list --tenant lists only the users of this tenant", async () => {
  for (const [name, tenant] of [["ada", "north/web"], ["grace", "north/web"], ["linus", "north/default"]]) {
    await printed(`user create ${name} --tenant ${tenant} --password-stdin`, { typed: `password of ${name}\n` });
  }
  await printed("user create mary --password-stdin", { typed: "password of mary\n" });
  const names = (argv: string) => printed(`user list ${argv} -o csv --no-headers --columns username`);
  expect(await names("--tenant north/web --sort-by username")).toBe("ada\ngrace\n");
  expect(await names("gra --tenant north/web")).toBe("grace\n");
  expect(await names("gra --tenant north/default")).toBe("");
  expect(await names("--sort-by username")).toContain("linus\nmary\n");
});

test("usage lists every project although the server sends the projects in pages", async () => {
  await sql(
    `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes,
                             floating_ips, began_at, ended_at)
       select gen_random_uuid(), gen_random_uuid(), 'disk', gen_random_uuid(), 0, 0, 1, 0,
              berth_now() - interval '1 minute', berth_now() from generate_series(1, $1)`,
    [PROJECTS_WITH_USAGE],
  );
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const listed = await printed(`usage --from ${yesterday} -o csv --no-headers`);
  expect(new Set(listed.trim().split("\n")).size).toBe(PROJECTS_WITH_USAGE);
});

test("a retention of more than 100 years that an earlier release stored counts as 100 years", async () => {
  await printed("config set log.retention_secs 40000000");
  await sql(`update setting set value = '{"is": 9000000000}' where key = 'log.retention_secs'`);
  expect(await printed("config get log.retention_secs")).toBe("3155760000\n");
});
