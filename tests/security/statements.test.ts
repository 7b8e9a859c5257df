// Tests the statements that the database executes. The statements never contain values (S-27). Unknown, used and
// expired claim codes cause the same statements (S-08). An unknown API key causes the same statements as a wrong secret
// (S-09). A repeated request changes nothing (S-15).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dumpTables } from "../support/dump.ts";
import { acceptedBodies } from "../api/bodies.ts";
import { readRoutes, type RouteDescription } from "../api/description.ts";
import { fill, type Objects, selectorsOf } from "../api/objects.ts";
import { type LoggedControlPlane, openLoggedControlPlane } from "./statement-log.ts";

let p: LoggedControlPlane;
let routes: readonly RouteDescription[];
let objects: Objects;

beforeAll(async () => {
  p = await openLoggedControlPlane();
  routes = readRoutes((await p.t.call("GET", "/openapi.json")).body);
  const make = async (path: string, fields: object = {}) => {
    const body = { ...acceptedBodies[`POST ${path.split("?")[0]}`]?.(), name: randomUUID(), ...fields };
    const { status, text, body: made } = await p.t.call("POST", path, { body });
    if (status !== 201) throw new Error(`${path}: ${text}`);
    return made.id as string;
  };
  const silo = await make("/v1/silos");
  const tenant = await make(`/v1/silos/${silo}/tenants`);
  const project = await make(`/v1/tenants/${tenant}/projects`);
  const vpc = await make(`/v1/vpcs?tenant=${tenant}&project=${project}`);
  const ids = { silo, tenant, project, vpc };
  objects = Object.fromEntries(Object.entries(ids).flatMap(([name, id]) => [[name, id], [`${name}_id`, id]]));
}, 120_000);

afterAll(() => p.close());

/** Returns whether a statement may run after the answer to its request, and thus during a later request. */
const isDeferred = (statement: string) => /last_used_at|pg_notify|from "setting"/.test(statement);
/** Returns the statements of a request. */
async function costOf(act: () => Promise<unknown>): Promise<string[]> {
  await p.statements();
  await act();
  return (await p.statements()).filter((statement) => !isDeferred(statement));
}

const CANARY = "cnry7f3a";
const PAYLOADS = [`'||(select "${CANARY}")||\\'; $1 --`];

test("S-27: no statement contains a caller's text", async () => {
  await p.statements();
  let sent = 0;
  const send = async (route: RouteDescription, path: string, payload: string, body?: unknown) => {
    sent += 1;
    const headers = {
      "user-agent": payload,
      "x-request-id": payload,
      ...(sent % 3 === 0 && { "idempotency-key": payload + sent }),
    };
    await p.t.call(route.method, path, { body, headers });
  };
  for (const route of routes.filter(({ path }) => path !== "/lab/clock" && path !== "/v1/audit/verify")) {
    const sound = route.body === null ? undefined : acceptedBodies[route.name]?.(objects);
    const place = fill(route.path, objects);
    const usual = place.replace(/\{\w+\}/g, () => randomUUID()) +
      selectorsOf(route, { ...objects, instance: randomUUID(), route_table: randomUUID() });
    for (const payload of PAYLOADS) {
      if (/\{\w+\}/.test(route.path)) {
        await send(
          route,
          route.path.replace(/\{\w+\}/g, encodeURIComponent(payload)) + selectorsOf(route, objects),
          payload,
          sound,
        );
      }
      for (const { name } of route.parameters.filter(({ in: where }) => where === "query")) {
        const at = usual.replace(new RegExp(`([?&])${name}=[^&]*&?`), "$1");
        await send(route, `${at}${at.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(payload)}`, payload, sound);
      }
      for (const [field, value] of Object.entries(sound ?? {})) {
        const hostile = typeof value === "object" && value !== null
          ? Object.fromEntries(Object.keys(value).map((key) => [key, payload]))
          : payload;
        const array = route.body?.type === "array";
        const body = { ...sound, ...(sound?.name !== undefined && { name: randomUUID() }), [field]: hostile };
        await send(route, usual, payload, array ? [body] : body);
      }
    }
  }
  const statements = await p.statements();
  expect(sent).toBeGreaterThan(250);
  expect(statements.length).toBeGreaterThan(sent / 2);
  expect(statements.filter((statement) => statement.includes(CANARY))).toEqual([]);
  // The texts did reach the database, as values.
  const stored = [...await dumpTables(p.t.db)].filter(([, rows]) => rows.some((row) => row.includes(CANARY)));
  expect(stored.map(([table]) => table)).toEqual(
    expect.arrayContaining(["silo", "tenant", "vpc"]),
  );
}, 180_000);

test("S-08: the database executes the same statements in the same order for unknown, used and expired claim codes", async () => {
  const register = async () => {
    const body = { server_uuid: randomUUID(), hostname: "node-1", sysinfo: {} };
    return (await p.t.call("POST", "/v1/agent/register", { key: null, body })).body.claim_code as string;
  };
  const [used, expired] = [await register(), await register()];
  const approve = (code: string) => p.t.call("POST", "/v1/cn-approvals", { body: { code } });
  expect((await approve(used)).status).toBe(200);
  await p.t.call("POST", "/lab/clock", { key: null, body: { seconds: 3_600 } });
  const unknown = await costOf(() => approve("000000"));
  expect(unknown.length).toBeGreaterThan(3);
  for (const code of [used, expired]) expect(await costOf(() => approve(code))).toEqual(unknown);
});

test("S-09: the database executes the same statements for an unknown key as for a key with a wrong secret", async () => {
  const { secret } = (await p.t.call("POST", "/v1/auth/api-keys", { body: { description: "d" } })).body;
  const ask = (key: string) => costOf(() => p.t.call("GET", "/v1/auth/whoami", { key }));
  const wrong = await ask(`${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`);
  expect(wrong).toHaveLength(1);
  expect(await ask(`opsk_${"z".repeat(12)}_${"z".repeat(32)}`)).toEqual(wrong);
});

test(
  "S-15: repeated requests in any order change nothing and get the same status, or 404 if their object was deleted",
  async () => {
    type Sent = { readonly method: string; readonly path: string; readonly body?: unknown; readonly id: string };
    const day: { readonly sent: Sent; readonly answer: { readonly status: number } }[] = [];
    const send = ({ method, path, body, id }: Sent) =>
      p.t.call(method, path, { body, headers: { "idempotency-key": id, "x-request-id": randomUUID() } });
    const act = async (method: string, path: string, body?: unknown) => {
      const sent = { method, path, body, id: randomUUID() };
      const answer = await send(sent);
      day.push({ sent, answer });
      return answer.body;
    };
    const named = () => ({ name: randomUUID(), description: "of a day" });
    const silo = await act("POST", "/v1/silos", named());
    const tenant = await act("POST", `/v1/silos/${silo.id}/tenants`, named());
    const project = await act("POST", `/v1/tenants/${tenant.id}/projects`, named());
    const at = `?tenant=${tenant.id}&project=${project.id}`;
    const vpc = await act("POST", `/v1/vpcs${at}`, { ...named(), ipv4_block: "10.0.0.0/8" });
    const subnet = await act("POST", `/v1/subnets?vpc=${vpc.id}`, { ...named(), ipv4_block: "10.1.0.0/16" });
    await act("PATCH", `/v1/subnets/${subnet.id}`, { description: "changed" });
    await act("DELETE", `/v1/subnets/${subnet.id}`);
    const key = await act("POST", "/v1/auth/api-keys", { description: "ci" });
    await act("DELETE", `/v1/auth/api-keys/${key.id}`);
    const user = await act("POST", "/v1/system/users", {
      username: `u-${randomUUID()}`,
      password: "a long enough password",
    });
    await act("PUT", `/v1/system/users/${user.id}/capabilities/system-read`);
    await act("DELETE", `/v1/system/users/${user.id}`);
    await act("PUT", "/v1/config/imds.hop_limit_default", { value: 3 });
    await act("DELETE", "/v1/config/imds.hop_limit_default");
    await act("POST", "/v1/cn-auto-approve", { duration_secs: 60, count: 1 });
    await act("DELETE", "/v1/cn-auto-approve");
    await act("POST", "/v1/silos", { name: silo.name, description: "refused" });
    expect(day.filter(({ answer }) => answer.status >= 400)).toHaveLength(1);

    const before = await dumpTables(p.t.db, VOLATILE);
    // Forwards, backwards, every second request, and forwards again: each request is repeated at least three times.
    const again = [...day, ...day.toReversed(), ...day.filter((_, index) => index % 2 === 0), ...day];
    for (const { sent, answer } of again) {
      const { status } = await send(sent);
      const gone = [subnet.id, key.id, user.id].some((id) => sent.path.includes(id));
      expect([sent.path, status]).toEqual([sent.path, gone && status === 404 ? 404 : answer.status]);
    }
    expect(await dumpTables(p.t.db, VOLATILE)).toEqual(before);
  },
  120_000,
);

/** Tables that the comparison leaves out: a repeated request updates the last use of its key. */
const VOLATILE = ["api_key_use"];
