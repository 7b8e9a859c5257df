// Tests every DELETE route of the API description except the routes in UNTESTED. A repeated request with the same
// Idempotency-Key gets the first answer, although the object is already deleted. Other callers do not get this answer
// (docs/wire.md, "Repeating a request").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scopedTargets } from "../compute/scoped-targets.ts";
import {
  type Answer,
  type CallOptions,
  okOf,
  openTestControlPlane,
  type TestControlPlane,
} from "../support/control-plane.ts";
import { networkTargets } from "../network/network-targets.ts";
import { identityTargets } from "../tenancy/identity-targets.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { addUpload } from "../compute/upload.ts";
import { acceptedBodies } from "./bodies.ts";
import { readRoutes } from "./description.ts";
import { publicAddressTargets } from "./public-address-targets.ts";
import { addUser } from "./user.ts";

/** All requests have this request id, so that the test can compare answers byte by byte. */
const REQUEST_ID = randomUUID();
/** Routes that this test leaves out. */
const UNTESTED: ReadonlySet<string> = new Set([
  // The request ends its own session, so the repeated request has no credential.
  "/v1/console/session",
  // The caller of this test has no session. own-sessions.test.ts tests this route.
  "/v1/auth/sessions/{session_id}",
  // These routes need a node. replayed-scope.test.ts tests the first route.
  "/v1/instances/{instance_id}",
  "/v1/disks/{disk_id}",
  "/v1/snapshots/{snapshot_id}",
  "/v1/nics/{nic_id}",
]);

let t: TestControlPlane;
let tenant: TestTenant;
let stranger: string;

beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
  stranger = (await addUser(t.db, "stranger")).key;
});
afterAll(() => t.close());

const make = async (path: string, body: unknown = { name: randomUUID() }): Promise<string> =>
  okOf(await t.call("POST", path, { body })).id;

/**
 * Functions for the DELETE routes outside TARGETS and UNTESTED. Each function creates the object to delete and returns
 * its path, or returns the path of an object that always exists.
 */
const OBJECTS: Readonly<Record<string, () => Promise<string>>> = {
  "/v1/cns/{server_uuid}": async () => `/v1/cns/${(await t.register()).server_uuid}`,
  "/v1/cn-auto-approve": () => Promise.resolve("/v1/cn-auto-approve"),
  "/v1/config/{key}": () => Promise.resolve("/v1/config/reservoir.percent_default"),
  "/v1/auth/api-keys/{id}": async () => `/v1/auth/api-keys/${(await t.mintKey("full")).id}`,
  "/v1/silos/{silo_id}": async () => `/v1/silos/${await make("/v1/silos")}`,
  "/v1/silos/{silo_id}/tenants/{tenant_id}": async () => {
    const all = `/v1/silos/${await make("/v1/silos")}/tenants`;
    return `${all}/${await make(all)}`;
  },
  "/v1/tenants/{tenant_id}/quota": async () => {
    const path = `/v1/tenants/${tenant.tenant_id}/quota`;
    okOf(await t.call("PUT", path, { body: acceptedBodies["PUT /v1/tenants/{tenant_id}/quota"]?.() }));
    return path;
  },
  "/v1/image-uploads/{upload_id}": async () => {
    const id = randomUUID();
    await addUpload(t, id, tenant.tenant_id);
    return `/v1/image-uploads/${id}`;
  },
  "/v1/tenants/{tenant_id}/projects/{project_id}": newProject,
  "/v1/tenants/{tenant_id}/projects/{project_id}/quota": async () => {
    const path = `${await newProject()}/quota`;
    const body = acceptedBodies["PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota"]?.();
    okOf(await t.call("PUT", path, { body }));
    return path;
  },
};

async function newProject(): Promise<string> {
  const all = `/v1/tenants/${tenant.tenant_id}/projects`;
  return `${all}/${await make(all)}`;
}

const TARGETS = {
  ...networkTargets(() => t),
  ...publicAddressTargets(() => t),
  ...identityTargets(() => t),
  ...scopedTargets(() => t),
};

async function objectOf(path: string): Promise<string> {
  const own = OBJECTS[path];
  if (own !== undefined) return await own();
  const target = TARGETS[`DELETE ${path}`];
  if (target === undefined) throw new Error(`nothing to delete for DELETE ${path}`);
  return (await target("existing")).path;
}

type Request = { readonly method: string; readonly path: string; readonly key: string };

function ask({ method, path, key }: Request, given: CallOptions = {}): Promise<Answer> {
  return t.call(method, path, { headers: { "idempotency-key": key, "x-request-id": REQUEST_ID }, ...given });
}

const shown = ({ status, text }: Answer) => `${status} ${text}`;

/** Replaces the last id in the path by an unknown id. */
const elsewhere = (path: string) => path.replace(/[0-9a-f-]{36}(?!.*[0-9a-f-]{36})/, randomUUID());

test("on every tested route, a repeated DELETE gets the first answer, but only for the same caller", async () => {
  const routes = readRoutes(okOf(await t.call("GET", "/openapi.json"))).filter(({ method }) => method === "DELETE");
  const wrong: string[] = [];
  for (const { path: template } of routes.filter(({ path }) => !UNTESTED.has(path))) {
    const request = { method: "DELETE", path: await objectOf(template), key: randomUUID() };
    const first = await ask(request);
    if (first.status >= 300) wrong.push(`${template}: first ${shown(first)}`);
    const again = await ask(request);
    if (shown(again) !== shown(first)) wrong.push(`${template}: ${shown(first)}, then ${shown(again)}`);
    const of_nothing = { ...request, path: elsewhere(request.path) };
    const [received, usual] = [await ask(request, { key: stranger }), await ask(of_nothing, { key: stranger })];
    if (shown(received) !== shown(usual)) {
      wrong.push(`${template}: another caller gets ${shown(received)}, not ${shown(usual)}`);
    }
    const other = await ask(request, { body: { other: true } });
    if (![404, 422].includes(other.status)) wrong.push(`${template}: another body gets ${shown(other)}`);
    const new_key = await ask({ ...request, key: randomUUID() });
    const absent = await ask({ ...of_nothing, key: randomUUID() });
    const gone = first.status === 204;
    if (gone && new_key.status !== absent.status) wrong.push(`${template}: another key gets ${shown(new_key)}`);
  }
  expect(routes.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
}, 120_000);
