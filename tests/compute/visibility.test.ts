// Tests which callers can see and change the images and SSH keys of each scope (docs/tenancy.md). The objects belong to
// the tenant acme, its silo or its project, or are public. These are the callers:
// - `member`, `silo admin`: users of acme; the second has the capability silo-admin. `bound`: the key of acme itself
// - `neighbour`, `sibling`: a user and the key of another tenant in the same silo
// - `foreign admin`, `foreign`: a user with silo-admin and the key of a tenant in another silo
// - `tenantless`: a user without a tenant
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { type Callers, levelsOf, makeCallers } from "./callers.ts";
import { newPublicKey } from "./public-key.ts";

const NOUNS = ["images", "ssh-keys"] as const;
const SCOPES = ["public", "silo", "tenant", "project"] as const;
type Noun = (typeof NOUNS)[number];

// The statuses for each scope, in this order: GET of an object, DELETE of an object, GET of the scope's list, POST to
// the list.
const TABLE = `
caller          public           silo             tenant           project
root            200 204 200 201  200 204 200 201  200 204 200 201  200 204 200 201
root read_only  200 403 200 403  200 403 200 404  200 403 200 404  200 403 200 404
root booter     200 403 200 403  404 403 404 404  404 403 404 404  404 403 404 404
member          200 403 200 403  200 403 200 404  200 204 200 201  200 204 200 201
silo admin      200 403 200 403  200 204 200 201  200 204 200 201  200 204 200 201
bound           200 403 200 403  200 403 200 404  200 204 200 201  200 204 200 201
bound read_only 200 403 200 403  200 403 200 404  200 403 200 404  200 403 200 404
neighbour       200 403 200 403  200 403 200 404  404 404 404 404  404 404 404 404
sibling         200 403 200 403  200 403 200 404  404 404 404 404  404 404 404 404
foreign         200 403 200 403  404 404 404 404  404 404 404 404  404 404 404 404
foreign admin   200 403 200 403  404 404 404 404  404 404 404 404  404 404 404 404
tenantless      200 403 200 403  404 404 404 404  404 404 404 404  404 404 404 404
anonymous       200 401 200 401  404 401 401 401  404 401 401 401  404 401 401 401
`;
const ROWS = TABLE.trim().split("\n").slice(1).map((row) => {
  const [, caller = "", cells = ""] = /^(\D+?)\s+(\d.*)$/.exec(row) ?? [];
  return { caller, cells: cells.split(/\s+/).map(Number) };
});

let t: TestControlPlane;
let callers: Callers;
const keys = new Map<string, string | null>();
beforeAll(async () => {
  t = await openTestControlPlane();
  callers = await makeCallers(t);
  const { acme, sibling, foreign, member, administrator, stranger, neighbour, tenantless } = callers;
  const read = { description: "r", scope: "read_only" };
  const boundRead = okOf(await t.call("POST", `/v1/tenants/${acme.tenant_id}/api-keys`, { body: read }));
  keys.set("root", ROOT_KEY);
  keys.set("root read_only", (await t.mintKey("read_only")).secret);
  keys.set("root booter", (await t.mintKey("booter")).secret);
  keys.set("member", member.key);
  keys.set("silo admin", administrator.key);
  keys.set("foreign admin", stranger.key);
  keys.set("bound", acme.key);
  keys.set("bound read_only", boundRead.secret);
  keys.set("neighbour", neighbour.key);
  keys.set("sibling", sibling.key);
  keys.set("foreign", foreign.key);
  keys.set("tenantless", tenantless.key);
  keys.set("anonymous", null);
});
afterAll(() => t.close());

function bodyOf(noun: Noun): Record<string, unknown> {
  const name = randomUUID();
  if (noun === "ssh-keys") return { name, public_key: newPublicKey() };
  const sha256 = createHash("sha256").update(randomBytes(16)).digest("hex");
  return { name, os: "debian", version: "13", size_bytes: 1, sha256 };
}

const pathOf = (noun: Noun, scope: (typeof SCOPES)[number]) =>
  scope === "public" ? `/v1/${noun}` : `${levelsOf(callers.acme)[scope]}/${noun}`;

async function answersTo(caller: string, noun: Noun): Promise<number[]> {
  const key = keys.get(caller);
  const statuses: number[] = [];
  for (const scope of SCOPES) {
    const path = pathOf(noun, scope);
    const { id } = okOf(await t.call("POST", path, { body: bodyOf(noun) }));
    const listed = scope === "public" ? `${path}?scope=public` : path;
    statuses.push((await t.call("GET", `/v1/${noun}/${id}`, { key })).status);
    statuses.push((await t.call("DELETE", `/v1/${noun}/${id}`, { key })).status);
    statuses.push((await t.call("GET", listed, { key })).status);
    statuses.push((await t.call("POST", path, { key, body: bodyOf(noun) })).status);
  }
  return statuses;
}

for (const noun of NOUNS) {
  test.each(ROWS)(`${noun} are shown to $caller exactly as the table requires`, async ({ caller, cells }) => {
    expect(await answersTo(caller, noun)).toEqual(cells);
  });
}

test.each(NOUNS)(
  "the answer for %s that the caller cannot see equals the answer for an id that does not exist",
  async (noun) => {
    const headers = { "x-request-id": randomUUID() };
    for (const scope of ["silo", "tenant", "project"] as const) {
      const { id } = okOf(await t.call("POST", pathOf(noun, scope), { body: bodyOf(noun) }));
      for (const key of [callers.foreign.key, callers.tenantless.key]) {
        for (const method of ["GET", "DELETE"]) {
          const hidden = await t.call(method, `/v1/${noun}/${id}`, { key, headers });
          const absent = await t.call(method, `/v1/${noun}/${randomUUID()}`, { key, headers });
          expect([hidden.status, hidden.text]).toEqual([404, absent.text]);
        }
      }
    }
  },
);

test("exactly the callers that may delete an image may change its description", async () => {
  const { id } = okOf(await t.call("POST", pathOf("images", "silo"), { body: bodyOf("images") }));
  const rename = async (caller: string) =>
    (await t.call("PATCH", `/v1/images/${id}`, { key: keys.get(caller), body: { description: caller } })).status;
  const asked = ["root", "silo admin", "member", "bound", "foreign", "anonymous", "root read_only"];
  expect(await Promise.all(asked.map(rename))).toEqual([200, 200, 403, 403, 404, 401, 403]);
});

test("another tenant's project is not found, not even in a path with the caller's tenant", async () => {
  const { acme, foreign } = callers;
  for (const noun of NOUNS) {
    for (
      const [tenant_id, project_id] of [[foreign.tenant_id, acme.project_id], [acme.tenant_id, foreign.project_id]]
    ) {
      const path = `/v1/tenants/${tenant_id}/projects/${project_id}/${noun}`;
      for (const key of [ROOT_KEY, foreign.key, acme.key]) {
        expect((await t.call("GET", path, { key })).status).toBe(404);
      }
    }
  }
});
