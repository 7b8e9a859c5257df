// Tests uploads of images from end to end: the compiled tenantctl uploads an image to a server, and the compiled node
// agent creates an instance from the image. The server runs as `task start` starts it.
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFolderStore } from "../../src/image-store/folder.ts";
import { pruneImages } from "../../src/image-store/prune.ts";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { call as callAt, until } from "./console-fixture.ts";
import { buildExecutables, type Ended, run, type Running, start } from "./executables.ts";
import { BYTES, SHA256 } from "./uploaded-image.ts";

let database: FreshDatabase;
let db: Db;
let folder: TemporaryFolder;
let stored: string;
let file: string;
let server: ServerProcess;
let agent: Running;
let tenant: TestTenant;
let node_key: string;

beforeAll(async () => {
  await buildExecutables(["nodeagent", "tenantctl"]);
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  folder = await temporaryFolder("uploads");
  stored = join(folder.path, "stored");
  file = join(folder.path, "disk.raw");
  await writeFile(file, BYTES);
  server = await startServer({ env: { DATABASE_URL: database.url, BERTH_IMAGE_DIR: stored }, as_task: true });
  tenant = await openTenant({ call });
  const state_dir = join(folder.path, "node");
  const pace = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];
  agent = start("nodeagent", ["run", "--endpoint", server.url, "--state-dir", state_dir, ...pace]);
  const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  okOf(await call("POST", "/v1/cn-approvals", { body: { code } }));
  await until(async () => (await db.query("select from cn_capacity")).rowCount === 1);
  node_key = JSON.parse(await readFile(join(state_dir, "credentials.json"), "utf8")).api_key;
}, 240_000);

afterAll(async () => {
  agent?.signal("SIGKILL");
  await agent?.ended;
  await server?.kill();
  await db?.close();
  await database?.drop();
  await folder?.remove();
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  callAt(server.url, method, path, options);
const own = (method: string, path: string, options: CallOptions = {}) =>
  call(method, path, { key: tenant.key, ...options });
const upload = (...more: string[]): Promise<Ended> =>
  run("tenantctl", ["image", "upload", file, "--os", "linux", "--image-version", "1", ...more], {
    env: { HOME: folder.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: tenant.key, NO_COLOR: "1" },
  });
const begin = async (fields: object = {}, key = tenant.key) =>
  await call("POST", `/v1/tenants/${tenant.tenant_id}/image-uploads`, {
    key,
    body: { name: crypto.randomUUID(), os: "linux", version: "1", size_bytes: BYTES.length, ...fields },
  });

async function put(id: string, from: number, bytes: Uint8Array, key = tenant.key) {
  const response = await fetch(`${server.url}/v1/image-uploads/${id}/parts?from=${from}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, body: await response.json() };
}

test(
  "the server computes the digest of an uploaded file, a node runs an instance of the image, and a deleted image's bytes are deleted",
  async () => {
    const { code, out, err } = await upload("--name", "mine");
    expect(code, err).toBe(0);
    const image = JSON.parse(out);
    expect(image).toMatchObject({ name: "mine", sha256: SHA256, size_bytes: BYTES.length, scope: { kind: "tenant" } });
    expect(image.source_url).toMatch(/^berth:/);

    // No job of the node needs the image yet.
    const id = image.source_url.slice("berth:".length);
    expect((await call("GET", `/v1/agent/images/${id}?part=0`, { key: node_key })).status).toBe(404);

    const vpc = okOf(
      await own("POST", `/v1/vpcs${tenant.selectors}`, { body: { name: "v", ipv4_block: "10.0.0.0/16" } }),
    );
    const subnet = okOf(
      await own("POST", `/v1/subnets?vpc=${vpc.id}`, { body: { name: "s", ipv4_block: "10.0.1.0/24" } }),
    );
    const body = { name: "web1", image_id: image.id, primary_subnet_id: subnet.id, cpu: 1, memory_bytes: 2 ** 30 };
    const instance = okOf(await own("POST", `/v1/instances${tenant.selectors}`, { body }));
    expect(instance.lifecycle.state).toBe("running");
    const [cached = ""] = await readdir(join(folder.path, "node", "images"));
    expect(cached).toBe(`${SHA256}.${tenant.tenant_id}`);
    expect(await readFile(join(folder.path, "node", "images", cached))).toEqual(BYTES);

    okOf(await own("POST", `/v1/instances/${instance.id}/stop`));
    expect((await own("DELETE", `/v1/instances/${instance.id}`)).status).toBe(204);
    expect((await own("DELETE", `/v1/images/${image.id}`)).status).toBe(204);
    expect(await readdir(stored)).toEqual([id]);
    const old = new Date(Date.now() - 2 * 60 * 60 * 1_000);
    await utimes(join(stored, id), old, old);
    expect(await pruneImages(db, await openFolderStore(stored), Date.now())).toBe(1);
    expect(await readdir(stored)).toEqual([]);
  },
  120_000,
);

test("a killed tenantctl continues when it is run again, and each part is stored once", async () => {
  const PARTS = 60;
  const large = join(folder.path, "large.raw");
  await writeFile(large, randomBytes(PARTS * IMAGE_PART_BYTES));
  const argv = ["image", "upload", large, "--os", "linux", "--image-version", "1"];
  const env = { HOME: folder.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: tenant.key, NO_COLOR: "1" };
  const first = start("tenantctl", argv, { env });
  const received = async () =>
    (await db.query<{ bytes: number }>("select max(received_bytes)::float8 as bytes from image_upload")).rows[0]
      ?.bytes ?? 0;
  await until(async () => await received() >= 5 * IMAGE_PART_BYTES);
  first.signal("SIGKILL");
  await first.ended;
  expect(await received()).toBeLessThan(PARTS * IMAGE_PART_BYTES);
  const { code, out, err } = await run("tenantctl", argv, { env });
  expect(code, err).toBe(0);
  const { rows } = await db.query<{ parts: number }>(
    "select count(*)::int as parts from transition where actor_id = $1 and event = 'receive'",
    [JSON.parse(out).source_url.slice("berth:".length)],
  );
  expect(rows).toEqual([{ parts: PARTS }]);
  expect((await own("DELETE", `/v1/images/${JSON.parse(out).id}`)).status).toBe(204);
}, 120_000);

test("an upload continues after the server was killed and started again", async () => {
  expect((await upload("--name", "first")).code).toBe(0);
  const begun = okOf(await begin());
  expect(begun).toMatchObject({ received_bytes: 0, part_bytes: IMAGE_PART_BYTES });
  expect((await put(begun.id, 0, BYTES.subarray(0, IMAGE_PART_BYTES))).body.received_bytes).toBe(IMAGE_PART_BYTES);
  // A repeated part, for example after a lost answer, changes nothing.
  expect((await put(begun.id, 0, BYTES.subarray(0, IMAGE_PART_BYTES))).status).toBe(200);
  await server.kill();
  server = await startServer({
    env: { DATABASE_URL: database.url, BERTH_IMAGE_DIR: stored, PORT: String(server.port) },
    as_task: true,
  });
  for (let from = IMAGE_PART_BYTES; from < BYTES.length; from += IMAGE_PART_BYTES) {
    expect((await put(begun.id, from, BYTES.subarray(from, from + IMAGE_PART_BYTES))).status).toBe(200);
  }
  // The image "first" already has the same bytes.
  const finish = `/v1/image-uploads/${begun.id}/finish`;
  const wrong = await own("POST", finish, { body: { sha256: "0".repeat(64) } });
  expect([wrong.status, wrong.body.message]).toEqual([409, expect.stringContaining(SHA256)]);
  const same = await own("POST", finish, { body: { sha256: SHA256 } });
  expect([same.status, same.body.message]).toEqual([409, expect.stringContaining("has the same bytes")]);
  expect((await own("DELETE", `/v1/image-uploads/${begun.id}`)).status).toBe(204);
  expect((await own("GET", `/v1/image-uploads/${begun.id}`)).status).toBe(404);
}, 120_000);

test("a repeated request that finishes an upload gets the image of the first request", async () => {
  const bytes = randomBytes(1_000);
  const begun = okOf(await begin({ size_bytes: bytes.length }));
  expect((await put(begun.id, 0, bytes)).status).toBe(200);
  const headers = { "idempotency-key": begun.id };
  const finish = (more: Record<string, string>) =>
    own("POST", `/v1/image-uploads/${begun.id}/finish`, { body: {}, headers: more });
  const first = await finish(headers);
  expect(first.status).toBe(201);
  expect(await finish(headers)).toMatchObject({ status: 201, body: first.body });
  expect((await finish({ "idempotency-key": `${begun.id}-2` })).status).toBe(404);
  expect((await own("DELETE", `/v1/images/${first.body.id}`)).status).toBe(204);
});

test("parts out of order, of a wrong size, or of another tenant, and uploads above the tenant's limit are refused", async () => {
  const begun = okOf(await begin());
  const part = BYTES.subarray(0, IMAGE_PART_BYTES);
  expect((await put(begun.id, IMAGE_PART_BYTES, part)).body.message).toBe(
    "the upload has 0 bytes; continue after them",
  );
  expect((await put(begun.id, 0, part.subarray(1))).status).toBe(400);
  // If two programs send the same part of one upload, the first part stays, and the second program gets 409.
  const [one, two] = [randomBytes(IMAGE_PART_BYTES), randomBytes(IMAGE_PART_BYTES)];
  const both = await Promise.all([put(begun.id, 0, one), put(begun.id, 0, two)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const kept = await readFile(join(stored, begun.id, "00000000"));
  expect([one, two].filter((bytes) => kept.equals(bytes))).toHaveLength(1);
  const rows = okOf(await own("GET", `/v1/image-uploads/${begun.id}`));
  expect(rows.received_bytes).toBe(IMAGE_PART_BYTES);
  const stranger = await openTenant({ call }, "stranger");
  expect((await put(begun.id, 0, part, stranger.key)).status).toBe(404);
  expect((await begin({}, stranger.key)).status).toBe(404);
  const early = await own("POST", `/v1/image-uploads/${begun.id}/finish`, { body: {} });
  expect([early.status, early.body.message]).toEqual([
    409,
    `the upload has ${IMAGE_PART_BYTES} of ${BYTES.length} bytes`,
  ]);
  okOf(await call("PUT", "/v1/config/image.uploaded_bytes_max", { body: { value: 3 * BYTES.length } }));
  expect((await begin()).status).toBe(201);
  expect((await begin()).status).toBe(409);
});

test(
  "an image is created from a snapshot, and an instance of the image runs after the snapshot is deleted",
  async () => {
    const env = {
      ...{ HOME: folder.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: tenant.key, NO_COLOR: "1" },
      ...{ TENANTCTL_TENANT: tenant.tenant_id, TENANTCTL_PROJECT: tenant.project_id },
    };
    const tenantctl = async (...argv: string[]) => {
      const { code, out, err } = await run("tenantctl", argv, { env });
      expect([code, err], argv.join(" ")).toEqual([0, expect.any(String)]);
      return JSON.parse(out);
    };
    okOf(await call("PUT", "/v1/config/image.uploaded_bytes_max", { body: { value: 100 * BYTES.length } }));
    const base = join(folder.path, "base.raw");
    await writeFile(base, randomBytes(IMAGE_PART_BYTES));
    await tenantctl(
      "image",
      "upload",
      base,
      "--os",
      "linux",
      "--image-version",
      "1",
      "--name",
      "base",
      "--label",
      "a=b",
    );
    await tenantctl("vpc", "create", "--name", "golden", "--ipv4-block", "10.7.0.0/16");
    await tenantctl("subnet", "create", "--name", "golden", "--vpc", "golden", "--ipv4-block", "10.7.1.0/24");
    const place = ["--vpc", "golden", "--subnet", "golden", "--cpu", "1", "--memory", "1GiB", "--label", "test=image"];
    const web1 = await tenantctl("instance", "create", "--name", "web1", "--image", "base", ...place);
    const [boot] = okOf(await own("GET", `/v1/disks?instance=${web1.id}`)).items;
    await tenantctl("snapshot", "create", boot.id, "--instance", "web1", "--name", "monday");
    const made = ["image", "create", "golden", "--snapshot", "monday", "--instance", "web1"];
    const image = await tenantctl(...made, "--label", "tier=web", "--image-version", "2");
    expect(image).toMatchObject({
      scope: { kind: "project", project_id: tenant.project_id },
      os: "linux",
      version: "2",
      labels: { tier: "web" },
      content_bytes: boot.size_bytes,
    });
    const id = image.source_url.slice("berth:".length);
    const bytes = await readFile(join(stored, id, "00000000"));
    expect([image.size_bytes, image.sha256]).toEqual([bytes.length, createHash("sha256").update(bytes).digest("hex")]);
    // The node keeps no copy for itself.
    expect((await readdir(join(folder.path, "node"))).filter((name) => name.includes("snapshot"))).toEqual([]);
    const again = await run("tenantctl", made, { env });
    expect([again.code === 0, again.err]).toEqual([
      false,
      expect.stringContaining("an image named golden already exists"),
    ]);

    expect((await run("tenantctl", ["snapshot", "delete", "monday", "--instance", "web1"], { env })).code).toBe(0);
    const web2 = await tenantctl("instance", "create", "--name", "web2", "--image", "golden", ...place);
    expect(web2).toMatchObject({ image_id: image.id, lifecycle: { state: "running" } });
    for (const instance of [web1, web2]) {
      okOf(await own("POST", `/v1/instances/${instance.id}/stop`));
      expect((await own("DELETE", `/v1/instances/${instance.id}`)).status).toBe(204);
    }
    expect((await own("DELETE", `/v1/images/${image.id}`)).status).toBe(204);
  },
  120_000,
);
