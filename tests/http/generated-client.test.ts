// A generated client works and has the right types: openapi-typescript generates the types, openapi-fetch uses them.
// Each use that the types must refuse is marked with an expected error.
import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NodeServer, serveNode } from "../../src/http/node-server.ts";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CHECK_LIMIT_MS = 120_000;

const PROGRAM = `
import process from "node:process";
import createClient from "openapi-fetch";
import type { paths } from "./berth.ts";

const client = createClient<paths>({
  baseUrl: process.env.BERTH_URL!,
  headers: { authorization: "Bearer " + process.env.BERTH_KEY },
});
const silo = await client.POST("/v1/silos", {
  params: { header: { "Idempotency-Key": "made-once" } },
  body: { name: "acme", description: "created by a generated client" },
});
const again = await client.POST("/v1/silos", {
  params: { header: { "Idempotency-Key": "made-once" } },
  body: { name: "other" },
});
const nodes = await client.GET("/v1/system/cns", { params: { query: { limit: 10 } } });
const absent = await client.GET("/v1/silos/{silo_id}", {
  params: { path: { silo_id: "7f1c2a34-5b6d-4e8f-9a0b-1c2d3e4f5a6b" } },
});
// @ts-expect-error: an unknown path
await client.GET("/v1/silo");
// @ts-expect-error: a field with a wrong type
const wrong = await client.POST("/v1/silos", { body: { name: 7 } });

const silo_name: string | undefined = silo.data?.name;
const hostnames: string[] | undefined = nodes.data?.items.map(({ hostname }) => hostname);
const said: string | undefined = absent.error?.message;
const error_code: string | undefined = absent.error?.error_code;
// @ts-expect-error: an unknown field
nodes.data?.items[0]?.colour;

const statuses = [silo, again, nodes, absent, wrong].map(({ response }) => response.status);
console.log(JSON.stringify({ silo_name, hostnames, said, error_code, wrong: wrong.error?.message, statuses }));
`;

let t: TestControlPlane;
let server: NodeServer;
let folder: TemporaryFolder;

beforeAll(async () => {
  t = await openTestControlPlane();
  server = await serveNode({ fetch: t.plane.fetch, hostname: "127.0.0.1", port: 0 });
  folder = await temporaryFolder("client");
  const { text } = await t.call("GET", "/openapi.json", { key: null });
  await writeFile(join(folder.path, "berth.ts"), astToString(await openapiTS(text)));
  await writeFile(join(folder.path, "program.ts"), PROGRAM);
  // A project like a user's, with a link to the installed packages, so that nothing is downloaded.
  await writeFile(join(folder.path, "package.json"), JSON.stringify({ dependencies: { "openapi-fetch": "*" } }));
  await writeFile(join(folder.path, "deno.json"), JSON.stringify({ nodeModulesDir: "manual", lock: false }));
  await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
});
afterAll(async () => {
  await server.close(0);
  await t.close();
  await folder.remove();
});

function deno(verb: string, ...flags: string[]) {
  const env = { ...process.env, NO_COLOR: "1", BERTH_URL: `http://127.0.0.1:${server.port}`, BERTH_KEY: ROOT_KEY };
  return run(process.execPath, [verb, "--cached-only", ...flags, "program.ts"], { cwd: folder.path, env });
}

test(
  "a program that uses the generated types passes the type check",
  { timeout: CHECK_LIMIT_MS },
  async () => {
    await expect(deno("check")).resolves.toBeDefined();
  },
);

test("the program creates a silo, lists the nodes, and reads the fields of errors", async () => {
  await t.register({ hostname: "rack-7" });
  const { stdout } = await deno("run", "--no-check", "--allow-env", "--allow-net=127.0.0.1");
  expect(JSON.parse(stdout)).toEqual({
    silo_name: "acme",
    hostnames: ["rack-7"],
    said: "Not Found",
    error_code: "NotFound",
    wrong: expect.stringContaining("body.name"),
    statuses: [201, 422, 200, 404, 400],
  });
});
