// Searches whole databases for secrets of machines and tenants (docs/reliability.md S-16 and S-17). The databases are
// from an agent that created an instance with user data, from a registration and an announce, and from an upgrade from
// release 0.1.0.
import { randomBytes, randomUUID } from "node:crypto";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { openPool } from "../../src/db/pool.ts";
import { capacity } from "../api/bodies.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import type { JobNode } from "../compute/jobs.ts";
import { type RunningAgent, simulatedMachine } from "../compute/node-agent.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { emptyDatabase, freshDatabase } from "../support/database.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { POLICY } from "../setup/machine.ts";

const PATIENCE = { timeout: 60_000 };
const LIMIT_MS = 180_000;
const OLD_MIGRATION_MAX = 35;

const canaries = {
  user_data: randomBytes(18).toString("base64url"),
  register: randomBytes(18).toString("base64url"),
  announce: randomBytes(18).toString("base64url"),
  status: randomBytes(18).toString("base64url"),
};
const KEPT = "kept-9Wd3hR";

let folder: TemporaryFolder;
let images: ImageServer;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  [folder, images] = await Promise.all([temporaryFolder("at-rest"), serveImage(randomBytes(100_000))]);
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
});
afterAll(async () => {
  await images.close();
  await folder.remove();
});

/** Returns a text in clear, in hex, and in base64 at each of the three possible offsets in a group. */
function spellings(text: string): string[] {
  const hex = Buffer.from(text).toString("hex");
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.from("x".repeat(offset) + text).toString("base64");
    // The characters at both ends depend on the bytes beside the text.
    return whole.slice(Math.ceil(offset * 8 / 6), Math.floor((offset + text.length) * 8 / 6));
  });
  return [
    text,
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((each) => each.replace(/\+/g, "-").replace(/\//g, "_")),
  ];
}

/** Returns the secrets that the database contains, with their tables. */
async function found(url: string): Promise<string[]> {
  const owner = openPool({ url, connectionsMax: 1, statementLimit_ms: 60_000 });
  try {
    const dump = await dumpTables(owner);
    return Object.entries(canaries).flatMap(([name, canary]) =>
      spellings(canary).flatMap((text) => tablesWith(dump, text)).map((table) => `${name} in ${table}`)
    );
  } finally {
    await owner.close();
  }
}

const secretsOf = (canary: string) => ({
  root_shadow: `$6$${canary}`,
  "Boot Parameters": { " rabbitmq ": `user:${canary}`, list: [{ "boot.root-shadow": canary }], plain: KEPT },
});

test("the search finds a secret in base64, whatever text is beside it", () => {
  for (const beside of ["", "a", "bc", "def"]) {
    const encoded = Buffer.from(`${beside}${canaries.user_data}!`).toString("base64");
    expect(spellings(canaries.user_data).filter((text) => encoded.includes(text))).not.toEqual([]);
  }
});

describe("the database does not contain", { timeout: LIMIT_MS }, () => {
  test("S-17: user data of an instance, which its node still gets unchanged", async () => {
    const t = await openTestControlPlane();
    try {
      const { g, node } = await openTenantAndNode(t);
      const user_data = `#cloud-config\npassword: ${canaries.user_data}\n`;
      const machine = await simulatedMachine(t, node, folder.path);
      const delivered: string[] = [];
      agents.push(machine.start(async ({ path, answer }) => {
        if (path.endsWith("/blueprint")) delivered.push(await answer.text());
      }));
      await known(t, node);
      const made = okOf(await makeInstance(g, { user_data }));
      expect(made.lifecycle).toEqual({ state: "running" });
      expect((await machine.vms())[made.id]).toMatchObject({ user_data });
      expect(delivered.map((text) => JSON.parse(text).user_data)).toContain(user_data);
      // A refused request's user data is not stored, either.
      expect((await makeInstance(g, { user_data, image_id: randomUUID() })).status).toBe(404);
      expect(await found(t.databaseUrl)).toEqual([]);
    } finally {
      for (const agent of agents.splice(0)) await agent.stop();
      await t.close();
    }
  });

  test("S-16: root_shadow and rabbitmq from registration, announce and status", async () => {
    const t = await openTestControlPlane();
    try {
      const node = await t.approvedNode({ sysinfo: secretsOf(canaries.register) });
      const registered = { server_uuid: node.server_uuid, hostname: "n", sysinfo: secretsOf(canaries.register) };
      okOf(await t.call("POST", "/v1/agent/register", { key: null, body: registered }));
      okOf(await t.call("POST", "/v1/agent/register", { key: node.api_key, body: registered }));
      const payload = { vms: {}, ...secretsOf(canaries.status) };
      okOf(await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload } }));
      const policy = { ...POLICY, auto_enroll: true };
      okOf(await t.call("PUT", "/v2/cn-boot-policy", { body: policy }));
      const sysinfo = secretsOf(canaries.announce);
      const announced = { server_uuid: randomUUID(), hostname: "bare", sysinfo };
      okOf(await t.call("POST", "/v2/booter/announce", { body: announced }));
      const shown = await t.call("GET", `/v1/system/cns/${node.server_uuid}`);
      expect(shown.body.last_status["Boot Parameters"]).toEqual({ list: [{}], plain: KEPT });
      expect(await found(t.databaseUrl)).toEqual([]);
    } finally {
      await t.close();
    }
  });
});

describe("a database of release 0.1.0", { timeout: LIMIT_MS }, () => {
  test("S-17: the first start of this version seals the user data once, and the node still gets the user data", async () => {
    const shared = await freshDatabase();
    const first = await openTestControlPlane({ databaseUrl: shared.url });
    const { g, node } = await openTenantAndNode(first);
    const plain = `#cloud-config\npassword: ${canaries.user_data}\n`;
    // The node does not answer, so the instance's user data stays stored.
    const id = await waiting(first, g, node);
    await first.db.query("insert into sealed_user_data (instance_id, plain) values ($1, $2)", [id, plain]);
    await first.close();
    expect(await found(shared.url)).toEqual(["user_data in sealed_user_data"]);
    const second = await openTestControlPlane({ databaseUrl: shared.url });
    try {
      expect(await found(shared.url)).toEqual([]);
      const sealed = async () => (await second.db.query("select * from sealed_user_data")).rows;
      const before = await sealed();
      expect(before).toEqual([{ instance_id: id, plain: null, sealed: expect.stringMatching(/^s1\./) }]);
      // A running 0.1.0 server gets an error, not an instance without its user data.
      const old = second.db.query("select user_data from instance_user_data where instance_id = $1", [id]);
      await expect(old).rejects.toThrow(/user data is sealed/);
      const insert = "insert into instance_user_data (instance_id, user_data) values ($1, 'plain')";
      await expect(second.db.query(insert, [randomUUID()])).rejects.toThrow(/cannot insert into column "user_data"/);
      expect((await second.db.query("delete from instance_user_data where instance_id = $1", [randomUUID()])).rowCount)
        .toBe(0);
      const third = await openTestControlPlane({ databaseUrl: shared.url });
      await third.close();
      expect(await sealed()).toEqual(before);
      const machine = await simulatedMachine(second, node, folder.path);
      agents.push(machine.start());
      await expect.poll(async () => (await machine.vms())[id], PATIENCE).toMatchObject({ user_data: plain });
    } finally {
      for (const agent of agents.splice(0)) await agent.stop();
      await second.close();
      await shared.drop();
    }
  });

  test("S-16: migrations remove secrets from inventories and keep everything else", async () => {
    const old = await emptyDatabase();
    const files = join(folder.path, "migrations");
    await mkdir(files);
    for (const name of (await readdir("migrations")).filter((each) => Number(each.slice(0, 4)) <= OLD_MIGRATION_MAX)) {
      await copyFile(join("migrations", name), join(files, name));
    }
    try {
      await migrate(old.url, { folder: pathToFileURL(`${files}/`) });
      const owner = openPool({ url: old.url, connectionsMax: 1 });
      const uuid = randomUUID();
      const rest = { plain: KEPT, n: 1.5, none: null, list: [[], {}, [1, "rabbitmq"]], empty: {} };
      const sysinfo = { ...rest, ...secretsOf(canaries.register), deep: [{ a: [{ RABBITMQ: canaries.announce }] }] };
      await owner.query(
        `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at)
           values ($1, $1, 1, 'disabled', 'old', 'tenant', $2, now())`,
        [uuid, JSON.stringify(sysinfo)],
      );
      await owner.query(
        "insert into cn_signal (server_uuid, last_seen, last_status) values ($1, berth_now(), $2)",
        [uuid, JSON.stringify(secretsOf(canaries.status))],
      );
      await owner.query(
        `set session_replication_role = replica; insert into instance_user_data values ('${uuid}', '${canaries.user_data}')`,
      );
      await owner.close();
      await migrate(old.url);
      expect(await found(old.url)).toEqual(["user_data in sealed_user_data"]);
      const t = await openTestControlPlane({ databaseUrl: old.url });
      try {
        expect(await found(old.url)).toEqual([]);
        const { rows } = await t.db.query("select sysinfo from cn where server_uuid = $1", [uuid]);
        const boot = { list: [{}], plain: KEPT };
        expect(rows[0].sysinfo).toEqual({ ...rest, "Boot Parameters": boot, deep: [{ a: [{}] }] });
      } finally {
        await t.close();
      }
    } finally {
      await old.drop();
    }
  });
});

/** Creates a tenant with an image and a subnet, and a node. */
async function openTenantAndNode(t: TestControlPlane): Promise<{ g: InstanceFixture; node: JobNode }> {
  const g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  return { g, node: await t.approvedNode() };
}

/** Creates an instance. The node has not claimed the instance's job yet. */
async function waiting(t: TestControlPlane, g: InstanceFixture, node: JobNode): Promise<string> {
  okOf(await t.call("POST", "/v1/agent/capacity", { key: node.api_key, body: capacity() }));
  okOf(await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key }));
  await known(t, node);
  okOf(await makeInstance(g, {}, { prefer: "respond-async" }));
  const [instance] = okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items;
  return instance.id;
}

/** Waits until the node has reported its capacity, which placement needs. */
async function known(t: TestControlPlane, { server_uuid }: JobNode): Promise<void> {
  const reported = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where server_uuid = $1", [
      server_uuid,
    ])).rows.length;
  await expect.poll(reported, PATIENCE).toBe(1);
}
