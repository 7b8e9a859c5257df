// The server does not save a 503 for an Idempotency-Key, so the same request can succeed later. If a request gets 503
// although its effect was committed, repeating the request has no second effect (docs/wire.md, "Repeating a request").
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { LENGTH_BYTES, TYPE } from "../support/commit-cutter.ts";
import { openProxy } from "../support/network-proxy.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { addNode, GIB, openComputeFixture } from "./compute-fixture.ts";

/** More memory than the node of the fixture has. */
const LARGE = { memory_bytes: 100 * GIB, cpu: 4 };

const ROOMY = { ram_total_mb: 256 * 1_024, numa_nodes: [{ node_id: 0, cores: 8, ram_mb: 256 * 1_024 }] };

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function openApiClient(env: Record<string, string> = {}, databaseUrl?: string): Promise<TestControlPlane> {
  const t = await openTestControlPlane({ env, databaseUrl });
  closing.push(t.close);
  return t;
}

const rowsOf = async (t: TestControlPlane, table: string, name: string) =>
  (await t.db.query<{ n: number }>(`select count(*)::int as n from ${table} where name = $1`, [name])).rows[0]!.n;

describe("a create request for which no node had room", () => {
  test("succeeds with the same Idempotency-Key after a node has room, and only once", async () => {
    const t = await openApiClient();
    const fixture = await openComputeFixture({ t });
    const name = randomUUID();
    const given = { headers: { "idempotency-key": randomUUID() } };
    const create = () => fixture.create({ ...LARGE, name }, given);
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status]).toEqual([503, 503]);
    expect(await rowsOf(t, "instance", name)).toBe(0);
    const roomy = await addNode(t, ROOMY);
    const made = await roomy.done(create(), "provision");
    expect(made.name).toBe(name);
    // Each further request gets the saved answer.
    expect(okOf(await create()).id).toBe(made.id);
    expect(await rowsOf(t, "instance", name)).toBe(1);
    const other = await fixture.create({ ...LARGE, name: randomUUID() }, given);
    expect(other.status).toBe(422);
  }, 60_000);

  test("is processed once if it is repeated several times at once after a node has room", async () => {
    const t = await openApiClient();
    const fixture = await openComputeFixture({ t });
    const [name, headers] = [randomUUID(), { "idempotency-key": randomUUID(), prefer: "respond-async" }];
    const create = () => fixture.create({ ...LARGE, name }, { headers });
    const refused = await Promise.all(Array.from({ length: 10 }, create));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    await addNode(t, ROOMY);
    const made = await Promise.all(Array.from({ length: 10 }, create));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(await rowsOf(t, "instance", name)).toBe(1);
  }, 60_000);

  test("other rejections are saved, so a repeated request gets the same 409 after the reason of the rejection is gone", async () => {
    const t = await openApiClient();
    const tenant = await openTenant(t);
    const path = `/v1/tenants/${tenant.tenant_id}/projects`;
    const [name, headers] = [randomUUID(), { "idempotency-key": randomUUID() }];
    const { id } = okOf(await t.call("POST", path, { body: { name } }));
    const refused = await t.call("POST", path, { body: { name }, headers });
    expect(refused.status).toBe(409);
    expect((await t.call("DELETE", `${path}/${id}`)).status).toBe(204);
    expect((await t.call("POST", path, { body: { name }, headers })).status).toBe(409);
  });
});

test(
  "a committed request whose database response was lost gets 503, and has one effect when repeated",
  async () => {
    const database = await freshDatabase();
    const t = await openApiClient({}, database.url);
    const cutter = createAnswerCutter();
    const url = new URL(database.url);
    const network = await openProxy({ target_port: Number(url.port), watch: cutter.watch });
    url.port = String(network.port);
    const far = await openApiClient({}, url.href);
    closing.unshift(() => network.close(), () => database.drop());
    const tenant = await openTenant(t);
    const path = `/v1/tenants/${tenant.tenant_id}/projects`;
    const [name, headers] = [randomUUID(), { "idempotency-key": randomUUID() }];
    const create = () => far.call("POST", path, { body: { name }, headers });
    cutter.isArmed = true;
    const first = await create();
    cutter.isArmed = false;
    expect(first.status).toBe(503);
    expect(cutter.cut).toBeGreaterThan(0);
    expect(await rowsOf(t, "project", name)).toBe(1);
    const again = await create();
    expect(again).toMatchObject({ status: 201, body: { name } });
    expect((await create()).body).toEqual(again.body);
    expect(await rowsOf(t, "project", name)).toBe(1);
  },
  120_000,
);

/** While `isArmed` is true, cuts a connection instead of passing on the response to a commit. */
function createAnswerCutter() {
  const state = { isArmed: false, cut: 0, watch };
  function watch() {
    let waits = false;
    return (direction: "to_server" | "to_client", bytes: Uint8Array) => {
      if (direction === "to_server") {
        waits ||= state.isArmed && isCommit(bytes);
        return { pass: bytes };
      }
      if (!waits) return { pass: bytes };
      state.cut += 1;
      return { pass: new Uint8Array(0), cut: true };
    };
  }
  return state;
}

/** Matches a Parse, Bind or Query frame of the store's commit call. The driver sends each statement in one piece. */
function isCommit(bytes: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(bytes);
  const starts = [TYPE.parse, TYPE.bind, TYPE.query].some((type) => bytes[0] === type);
  return starts && text.slice(1 + LENGTH_BYTES).includes("commit_units_1");
}
