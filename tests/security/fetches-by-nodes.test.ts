// Tests the fetches that nodes make for tenants, with the compiled nodeagent, a running server, and images whose
// addresses are on this machine. docs/reliability.md S-25 and S-47.
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { NOT_FETCHED } from "../../nodeagent/image-cache.ts";
import type { Job } from "../../src/contract/job.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type Answer, okOf } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, type Running, start } from "../processes/executables.ts";
import { type FetchFixture, openFetchFixture, REDIRECT_CODES } from "./fetch-fixture.ts";
import { ALLOWED_RANGE, type AllowedServer, openAllowedServer } from "./fetch-target.ts";
import { spellings } from "./special-addresses.ts";

const BYTES = randomBytes(20_000);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
/** Small enough for many instances on the simulated node. */
const SMALL = { memory_bytes: 2 ** 28 };
/** The time limit of the slow tests: a node retries an unavailable image for about 20 s, eight images at a time. */
const SLOW_MS = 300_000;

let fixture: FetchFixture;
let db: Db;
let folder: TemporaryFolder;
let allowed: AllowedServer;
let agent: Running;
let asked: string[] = [];
let acme: InstanceFixture;
let globex: InstanceFixture;

beforeAll(async () => {
  await buildExecutables();
  [fixture, folder] = await Promise.all([openFetchFixture(), temporaryFolder("fetches")]);
  allowed = await openAllowedServer((request, response) => {
    asked.push(request.url!);
    const code = /^\/redirect\/(\d+)\/(.*)$/.exec(request.url!);
    if (code !== null) response.writeHead(Number(code[1]), { location: decodeURIComponent(code[2]!) }).end();
    else response.writeHead(200, { "content-length": BYTES.length }).end(BYTES);
  });
  db = openPool({ url: fixture.databaseUrl, connectionsMax: 1, applicationName: "test" });
  acme = await openInstanceFixture(fixture, { url: `${allowed.url}/acme`, sha256: SHA256, size_bytes: BYTES.length });
  globex = await openInstanceFixture(fixture, {
    url: `${allowed.url}/globex`,
    sha256: SHA256,
    size_bytes: BYTES.length,
  });
  const pace = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];
  agent = start("nodeagent", [
    "run",
    "--endpoint",
    fixture.server.url,
    "--state-dir",
    join(folder.path, "node"),
    ...pace,
  ]);
  const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  okOf(await fixture.call("POST", "/v1/cn-approvals", { body: { code } }));
  await agent.says(/reports to/);
  const reported = async () => expect((await db.query("select from cn_capacity")).rows).toHaveLength(1);
  await vi.waitFor(reported, { timeout: 60_000, interval: 100 });
}, SLOW_MS);

beforeEach(() => void (asked = []));

afterAll(async () => {
  agent?.signal("SIGKILL");
  await allowed?.close();
  await db?.close();
  await fixture?.close();
  await folder?.remove();
});

type Source = { readonly url: string; readonly sha256?: string; readonly size_bytes?: number };

type Made = { readonly g: InstanceFixture; readonly project: string; readonly image_id: string };

/** Creates an image in a new project, so that several images may have the same digest. */
async function imageOf(g: InstanceFixture, { url, sha256 = SHA256, size_bytes = BYTES.length }: Source): Promise<Made> {
  const name = randomBytes(8).toString("hex");
  const projects = `/v1/tenants/${g.tenant_id}/projects`;
  const project = okOf(await g.call("POST", projects, { body: { name } })).id;
  const body = { name, os: "linux", version: "1", size_bytes, sha256, source_url: url };
  return { g, project, image_id: okOf(await g.call("POST", `${projects}/${project}/images`, { body })).id };
}

async function instanceOf({ g, project, image_id }: Made): Promise<Answer> {
  const selectors = `?tenant=${g.tenant_id}&project=${project}`;
  const make = async (path: string, body: unknown) => okOf(await g.call("POST", path, { body })).id as string;
  const vpc = await make(`/v1/vpcs${selectors}`, { name: "v", ipv4_block: "10.0.0.0/16" });
  const subnet_id = await make(`/v1/subnets?vpc=${vpc}`, { name: "s", ipv4_block: "10.0.1.0/24" });
  return await makeInstance({ ...g, selectors, image_id, subnet_id }, SMALL);
}

async function jobDetails(): Promise<string[]> {
  const { items } = okOf(await fixture.call("GET", "/v1/system/jobs?status=failed")) as { items: Job[] };
  return items.map(({ result }) => (result as { detail: string }).detail);
}

/** Returns the answer to the tenant, without the ids of the request and the instance. */
const withoutIds = (
  { status, body }: Answer,
) => [status, body.error_code, String(body.message).replace(/[0-9a-f-]{36}/g, "")];

test("S-47: a tenant's image may not have a private address, and nothing is written", async () => {
  await fixture.allow([]);
  for (
    const url of [...spellings("127.0.0.1"), ...spellings("169.254.169.254"), "http://localhost/", "http://[::1]/"]
  ) {
    if (!/^[!-~]+$/.test(url)) continue; // Another rule refuses this URL: a URL must be ASCII.
    const body = { name: "inside", os: "linux", version: "1", size_bytes: 7, sha256: SHA256, source_url: url };
    const answer = await acme.call("POST", `/v1/tenants/${acme.tenant_id}/images`, { body });
    expect([url, answer.status, answer.body.message]).toEqual([
      url,
      400,
      "source_url: must have a public address, or an address in a network that the setting fetch.allowed_private lists",
    ]);
  }
  const { body: images } = await acme.call("GET", `/v1/tenants/${acme.tenant_id}/images`);
  expect(images.map(({ name }: { name: string }) => name)).not.toContain("inside");
});

test(
  "S-25, S-47: no spelling and no redirect makes a node fetch from its own machine, and all failures look the same",
  async () => {
    // The images were created before the setting changed, so the node itself must refuse them.
    await fixture.allow(["0.0.0.0/0", "::/0"]);
    const inside = spellings("127.0.0.1", fixture.target.port, "/metadata");
    const redirects = REDIRECT_CODES.map((code, index) =>
      `${allowed.url}/redirect/${code}/${encodeURIComponent(inside[index * 4]!)}`
    );
    const direct = [2, 6, 12, 14].map((index) => inside[index]!);
    const sources: Source[] = [
      ...[...redirects, ...direct, `http://localhost:${fixture.target.port}/`].map((url) => ({ url })),
      { url: "http://127.0.0.2:9/closed" },
      { url: `${allowed.url}/digest`, sha256: "ab".repeat(32) },
      { url: `${allowed.url}/size`, size_bytes: BYTES.length + 1 },
    ];
    const made = await Promise.all(sources.map((source, index) => imageOf(index % 2 === 0 ? acme : globex, source)));
    await fixture.allow([ALLOWED_RANGE]);
    const answers = await Promise.all(made.map(instanceOf));
    expect(fixture.target.connections()).toBe(0);
    expect(new Set(answers.map((answer) => JSON.stringify(withoutIds(answer)))).size).toBe(1);
    expect(answers[0]!.status).toBe(502);
    expect(answers[0]!.body.message).toContain(NOT_FETCHED);
    const details = await jobDetails();
    expect(details.filter((each) => each.includes("is not a public address"))).toHaveLength(sources.length - 3);
    expect(details.filter((each) => each.includes("has the SHA-256"))).toHaveLength(1);
    for (const code of REDIRECT_CODES) expect(asked.some((path) => path.startsWith(`/redirect/${code}/`))).toBe(true);
  },
  SLOW_MS,
);

test("S-47: a tenant can neither use nor detect another tenant's image on a node", async () => {
  await fixture.allow([ALLOWED_RANGE]);
  okOf(await makeInstance(acme, SMALL));
  expect(asked).toEqual(["/acme"]);
  // Globex uses the digest of acme's image with an address that does not serve this image.
  const stolen = await instanceOf(await imageOf(globex, { url: `${allowed.url}/redirect/404/x` }));
  expect([stolen.status, stolen.body.message]).toEqual([502, expect.stringContaining(NOT_FETCHED)]);
  okOf(await makeInstance(globex, SMALL));
  expect(asked.filter((path) => path === "/globex")).toHaveLength(1);
  okOf(await makeInstance(globex, SMALL));
  expect(asked.filter((path) => path === "/globex")).toHaveLength(1);
  const files = (await readdir(join(folder.path, "node", "images"))).filter((name) => !name.startsWith(".")).sort();
  expect(files).toEqual([`${SHA256}.${acme.tenant_id}`, `${SHA256}.${globex.tenant_id}`].sort());
}, SLOW_MS);
