// Tests the compiled tenantctl with a server that has the permissions of `task start`. A tenant's key identifies the
// tenant, so neither --tenant nor the tenant's UUID is needed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must } from "./client.ts";
import { buildExecutables, type Ended, run } from "./executables.ts";

type Made = { readonly id: string; readonly secret: string };

let database: FreshDatabase;
let server: ServerProcess;
let home: TemporaryFolder;
let key: string;
let reading: string;
let member: string;
let tenant: string;

const post = (path: string, body: unknown, as = ROOT_KEY) =>
  must<Made>(server.url, { method: "POST", path, body, key: as });

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  home = await temporaryFolder("home");
  const env = { DATABASE_URL: database.url };
  server = await startServer({ env, as_task: true });
  const silo = await post("/v1/silos", { name: "customer" });
  tenant = (await post(`/v1/silos/${silo.id}/tenants`, { name: "web" })).id;
  await post(`/v1/silos/${silo.id}/tenants`, { name: "other" });
  await post(`/v1/tenants/${tenant}/projects`, { name: "shop" });
  key = (await post(`/v1/tenants/${tenant}/api-keys`, { description: "full" })).secret;
  reading = (await post(`/v1/tenants/${tenant}/api-keys`, { description: "read", scope: "read_only" })).secret;
  const password = "correct horse battery";
  await post("/v1/system/users", { username: "ada", password, tenant_id: tenant });
  const path = "/v1/auth/login";
  const body = { username: "ada", password };
  const login = await must<{ access_token: string }>(server.url, { method: "POST", path, body, key: "" });
  member = (await post("/v1/auth/api-keys", { description: "of a member" }, login.access_token)).secret;
  const image = { os: "linux", version: "1", size_bytes: 1, sha256: "0".repeat(64) };
  await post(`/v1/silos/${silo.id}/images`, { name: "of-the-silo", ...image });
  await post(`/v1/tenants/${tenant}/images`, { name: "of-the-tenant", ...image });
  await post("/v1/images", { name: "of-all", ...image });
}, 180_000);

afterAll(async () => {
  await server?.kill();
  await database?.drop();
  await home?.remove();
});

const tenantctl = (argv: string, api_key: string): Promise<Ended> =>
  run("tenantctl", argv.split(" "), {
    env: { HOME: home.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: api_key, NO_COLOR: "1" },
  });

async function printed(argv: string, api_key: string): Promise<string> {
  const { code, out, err } = await tenantctl(argv, api_key);
  expect(code, `tenantctl ${argv}: ${err}`).toBe(EXIT.ok);
  return out;
}

describe("a key of a tenant needs no --tenant", () => {
  test("to create, list and delete in a project by its name", async () => {
    const vpc = JSON.parse(await printed("vpc create --project shop --name front --ipv4-block 10.0.0.0/16", key));
    // In the answer to a create, `realized` is null.
    const listed = { ...vpc, realized: expect.objectContaining({ realizations: [] }) };
    expect(JSON.parse(await printed("vpc list --project shop", key)).items).toEqual([listed]);
    expect(await printed("vpc list --project shop -o table", reading)).toContain("front");
    expect(JSON.parse(await printed(`vpc list --project ${vpc.project}`, member)).items).toEqual([listed]);
    expect(await printed("instance list --project shop -o table", key)).toBe("(no instances)\n");
    expect(await printed("vpc delete front --project shop", key)).toBe(`Vpc ${vpc.id} deleted.\n`);
  });

  test("to list projects, quotas and images, with the scope of each image", async () => {
    expect(await printed("project list -o table", key)).toContain("shop");
    expect(await printed("quota show --project shop -o table", key)).toContain("instances");
    for (const argv of ["image list -o table", "image list --project shop -o table"]) {
      const rows = (await printed(`${argv} --no-headers`, key)).trimEnd().split("\n");
      expect(rows.map((row) => row.split(/ {2,}/)).map((cells) => [cells[0], cells.at(-1)])).toEqual([
        ["of-all", "public"],
        ["of-the-silo", "silo"],
        ["of-the-tenant", "tenant"],
      ]);
    }
  });
});

describe("a tenant's name or id works with a key of that tenant", () => {
  test.each(["web", "web-id"])("as the value of --tenant: %s", async (given) => {
    const name = given === "web" ? "web" : tenant;
    for (const each of [key, reading, member]) {
      expect(await printed(`vpc list --tenant ${name} --project shop -o table`, each)).toBe("(no VPCs)\n");
    }
  });

  test("but another tenant's name is not found, even in the same silo", async () => {
    for (const each of [key, reading, member]) {
      const { code, out, err } = await tenantctl("vpc list --tenant other --project shop", each);
      expect([code, out]).toEqual([EXIT.not_found, ""]);
      expect(err).toContain("other");
    }
  });
});

test("with an operator's key a command must name the tenant", async () => {
  const { code, err } = await tenantctl("floating-ip list", ROOT_KEY);
  expect(code).toBe(1);
  expect(err).toContain("pass --tenant (or TENANTCTL_TENANT) and --project (or TENANTCTL_PROJECT) (MissingScope");
  expect(await printed("vpc list --tenant web --project shop -o table", ROOT_KEY)).toBe("(no VPCs)\n");
});
