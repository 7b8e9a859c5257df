// Tests the rights of a node's key over the objects of another node, on every route that can name a node or one of its
// objects. rights-matrix.test.ts tests a node's key with the node's own objects.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enqueue } from "../compute/jobs.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, type Dump, dumpTables } from "../support/dump.ts";
import { acceptedBodies } from "./bodies.ts";
import { readRoutes, type RouteDescription } from "./description.ts";

// Each cell is the status for an object of the calling node (own), for an object of another node (other), or for a
// missing object (absent). The other node has one job in every state. The test requests each of these jobs, and all
// answers must have the status of the cell. The first three columns are for the key of an approved node (node), the
// other three for the key of a disabled node (off).
const TABLE = `
route                                      node own other absent   off own other absent
POST /v1/agent/heartbeat                   200 200 200             200 200 200
POST /v1/agent/status                      200 200 200             200 200 200
POST /v1/agent/capacity                    200 200 200             200 200 200
GET /v1/agent/config                       200 200 200             200 200 200
POST /v1/agent/claim                       200 403 403             403 403 403
GET /v1/agent/jobs/{job_id}/blueprint      200 403 404             200 403 404
POST /v1/agent/jobs/{job_id}/progress      200 403 404             200 403 404
POST /v1/agent/jobs/{job_id}/complete      200 403 404             200 403 404
POST /v1/agent/jobs/{job_id}/bury          409 403 404             409 403 404
POST /v1/agent/network/poll                200 200 200             200 200 200
POST /v1/agent/poll                        200 403 403             200 403 403
POST /v1/agent/network/trace               404 404 404             404 404 404
POST /v1/agent/network-realization         404 403 403             404 403 403
POST /v1/agent/nic-tags                    200 200 200             200 200 200
GET /v1/agent/images/{upload_id}           400 400 400             400 400 400
POST /v1/agent/images/{upload_id}          400 400 400             400 400 400
PUT /v1/agent/images/{upload_id}/parts     400 400 400             400 400 400
POST /v1/agent/images/{upload_id}/finish   400 400 400             400 400 400
GET /v1/agent/consoles/{session_id}        404 404 404             404 404 404
GET /v1/system/jobs/{job_id}               404 404 404             404 404 404
GET /v1/system/jobs                        404 404 404             404 404 404
GET /v1/system/cns/{cn_id}                 404 404 404             404 404 404
GET /v1/system/cns/{cn_id}/instances       404 404 404             404 404 404
GET /v1/system/cns/{cn_id}/capacity        404 404 404             404 404 404
GET /v1/system/cns/{cn_id}/load            404 404 404             404 404 404
GET /v1/system/cns/{cn_id}/doctor          404 404 404             404 404 404
GET /v1/system/instances                   404 404 404             404 404 404
GET /v1/instances                          404 404 404             404 404 404
POST /v1/instances                         404 404 404             404 404 404
POST /v1/nics                              404 404 404             404 404 404
POST /v1/cns/{server_uuid}/disable         403 403 403             403 403 403
POST /v1/cns/{server_uuid}/enable          403 403 403             403 403 403
POST /v1/cns/{server_uuid}/role            403 403 403             403 403 403
PATCH /v1/cns/{server_uuid}/underlay       403 403 403             403 403 403
POST /v1/cns/{server_uuid}/reservoir       403 403 403             403 403 403
DELETE /v1/cns/{server_uuid}               403 403 403             403 403 403
GET /v1/cns/{server_uuid}/traits           403 403 403             403 403 403
POST /v1/cns/{server_uuid}/traits          403 403 403             403 403 403
GET /v1/cns/{server_uuid}/hardware         403 403 403             403 403 403
PUT /v2/booter/cns/{server_uuid}/hardware  403 403 403             403 403 403
GET /v1/cns/{server_uuid}/placement        403 403 403             403 403 403
PATCH /v1/cns/{server_uuid}/placement      403 403 403             403 403 403
POST /v1/cns/{server_uuid}/drain           403 403 403             403 403 403
POST /v1/cns/{server_uuid}/evacuate        403 403 403             403 403 403
POST /v1/cns/{server_uuid}/drain/preview   403 403 403             403 403 403
POST /v1/cns/{server_uuid}/root-password   403 403 403             403 403 403
GET /v1/cns/{server_uuid}/setup-layout-proposal  403 403 403       403 403 403
POST /v1/cns/{server_uuid}/approve-setup   403 403 403             403 403 403
POST /v1/cns/{server_uuid}/factory-reset   403 403 403             403 403 403
GET /v2/cn-boot/{mac}                      403 403 403             403 403 403
GET /v2/cn-boot/{mac}/doctor               404 404 404             404 404 404
POST /v2/cn-boot/{mac}/authorize           403 403 403             403 403 403
POST /v2/cn-boot/{mac}/reactivate          403 403 403             403 403 403
POST /v2/cn-boot/{mac}/rescue              403 403 403             403 403 403
POST /v2/cn-boot/{mac}/rescue/clear        403 403 403             403 403 403
POST /v2/cn-boot/{mac}/assign              403 403 403             403 403 403
PUT /v2/cn-boot/{mac}/arguments            403 403 403             403 403 403
POST /v2/cn-boot/{mac}/decommission        403 403 403             403 403 403
POST /v2/booter/seen                       403 403 403             403 403 403
POST /v2/booter/announce                   403 403 403             403 403 403
POST /v2/booter/cns/{server_uuid}/bundle   403 403 403             403 403 403
PUT /v2/booter/cns/{server_uuid}/setup-script  403 403 403         403 403 403
POST /v2/booter/cns/{server_uuid}/setup-script/bundle  403 403 403  403 403 403
POST /v2/booter/cns/{server_uuid}/setup-progress  403 403 403      403 403 403
POST /v2/booter/cns/{server_uuid}/setup-complete  403 403 403      403 403 403
POST /v2/booter/cns/{server_uuid}/setup-failed    403 403 403      403 403 403
`;
const EXPECTED = new Map(
  TABLE.trim().split("\n").slice(1).map((row) => {
    const [method, path, ...cells] = row.split(/\s+/);
    return [`${method} ${path}`, cells] as const;
  }),
);

/**
 * Routes that need no key. The table does not contain them. The last test of this file sends a registration with a
 * node's key.
 */
const ANONYMOUS = ["POST /v1/agent/register", "GET /v1/agent/register/status"];
/** Fields and parameters that name a node, a job, or a MAC address. */
const NAMES = [
  "server_uuid",
  "cn_id",
  "cn",
  "node",
  "job_id",
  "mac",
  "claimed_by",
  "realizer",
  "running_jobs",
  "target_cn",
];
/** Lists that could contain a node's objects. The test requests them with `?cn=`. */
const FILTERED = ["GET /v1/system/instances", "GET /v1/system/jobs", "GET /v1/instances"];
const OBJECTS = ["own", "other", "absent"] as const;
type Objects = typeof OBJECTS[number];

/** A node with its credentials and one job in every state. */
type Owner = {
  readonly server_uuid: string;
  readonly poll_token: string;
  readonly mac: string;
  readonly key: string;
  readonly jobs: Readonly<Record<string, string>>;
};

let t: TestControlPlane;
let routes: readonly RouteDescription[];
const callers = new Map<"node" | "off", Owner>();
let other: Owner;

beforeAll(async () => {
  t = await openTestControlPlane();
  routes = readRoutes((await t.call("GET", "/openapi.json")).body);
  const policy = "PUT /v2/cn-boot-policy";
  okOf(await t.call("PUT", "/v2/cn-boot-policy", { body: acceptedBodies[policy]?.() }));
  other = await owner("02:00:00:00:00:0a");
  callers.set("node", await owner("02:00:00:00:00:0b"));
  const off = await owner("02:00:00:00:00:0c");
  okOf(await t.call("POST", `/v1/cns/${off.server_uuid}/disable`));
  callers.set("off", off);
});
afterAll(() => t.close());

async function owner(mac: string): Promise<Owner> {
  const { server_uuid, poll_token, api_key: key } = await t.approvedNode();
  okOf(await t.call("POST", "/v1/agent/status", { key, body: { payload: { of: server_uuid } } }));
  okOf(await t.call("POST", "/v1/agent/capacity", { key, body: acceptedBodies["POST /v1/agent/capacity"]?.() }));
  okOf(await t.call("POST", "/v1/agent/heartbeat", { key }));
  okOf(await t.call("POST", "/v2/booter/seen", { body: { mac } }));
  const states = ["pending", "completed", "failed", "failed_buried", "cancelled", "cancelled_buried", "in_progress"];
  const jobs = Object.fromEntries(
    await Promise.all(states.map(async (state) => [state, await jobOf(server_uuid, state)] as const)),
  );
  return { server_uuid, poll_token, mac, key, jobs };
}

/**
 * Creates a job of the node in this state. The suffix `_buried` means that the node has confirmed the job's tombstone.
 */
async function jobOf(server_uuid: string, named: string): Promise<string> {
  const id = await enqueue(t, { server_uuid });
  if (named === "pending") return id;
  const [state = "", isBuried] = named.split("_buried");
  const ended = state !== "in_progress";
  await t.db.query(
    `update job set state = $2, claimed_by = $3, claimed_at = berth_now(), lease_s = 600,
       lease_until = berth_now() + interval '600 s', completed_at = case when $4 then berth_now() end,
       result = case when $2 = 'completed' then jsonb_build_object('secret', id::text) end,
       reason = case when $2 in ('failed', 'cancelled') then 'not wanted' end,
       tombstone = $5, version = version + 1 where id = $1`,
    [id, state, server_uuid, ended, ended && state !== "completed" && isBuried === undefined],
  );
  return id;
}

/** Returns whether a route can name a node or one of its objects. */
function namesNode({ path, parameters, body, name }: RouteDescription): boolean {
  const fields = [...Object.keys(body?.properties ?? {}), ...Object.keys(body?.items?.properties ?? {})];
  const named = [...parameters.filter((each) => each.in !== "header").map((each) => each.name), ...fields];
  return !ANONYMOUS.includes(name) && (path.startsWith("/v1/agent/") || named.some((each) => NAMES.includes(each)));
}

type Request = { readonly path: string; readonly body?: unknown };

/**
 * Returns the requests of a route for these objects. If the path names a job and the objects belong to the other node,
 * returns one request for each job of that node. Otherwise returns one request.
 */
async function requestsOf(route: string, caller: Owner, objects: Objects): Promise<readonly Request[]> {
  const [, pattern = ""] = route.split(" ");
  const of = { own: caller, other, absent: ABSENT }[objects];
  // A request can change a job of the calling node, so each such request gets a new job.
  const jobs = !pattern.includes("{job_id}")
    ? [""]
    : objects === "own"
    ? [await jobOf(of.server_uuid, "in_progress")]
    : Object.values(of.jobs);
  return jobs.map((job_id) => {
    const session_id = randomUUID();
    const ids: Record<string, string> = {
      job_id,
      session_id,
      server_uuid: of.server_uuid,
      cn_id: of.server_uuid,
      mac: of.mac,
    };
    const path = pattern.replace(/\{(\w+)\}/g, (whole, name) => ids[name] ?? whole);
    const filter = FILTERED.includes(route) ? `?cn=${of.server_uuid}` : "";
    const place = route === "POST /v1/instances"
      ? `?tenant=${randomUUID()}&project=${randomUUID()}`
      : route === "POST /v1/nics"
      ? `?instance=${randomUUID()}`
      : "";
    return { path: path + filter + place, body: bodyOf(route, of) };
  });
}

const ABSENT: Omit<Owner, "key"> = {
  server_uuid: randomUUID(),
  poll_token: "0".repeat(32),
  mac: "02:00:00:00:00:0d",
  jobs: { none: randomUUID() },
};

function bodyOf(route: string, of: Omit<Owner, "key">): unknown {
  const accepted = acceptedBodies[route]?.();
  switch (route) {
    case "POST /v1/agent/heartbeat":
      return { running_jobs: Object.values(of.jobs) };
    case "POST /v1/agent/claim":
      return { claimed_by: of.server_uuid };
    case "POST /v1/agent/poll":
      return { ...accepted, server_uuid: of.server_uuid, running_jobs: Object.values(of.jobs) };
    case "POST /v1/agent/network-realization":
      return { ...accepted, realizer: { kind: "cn", id: of.server_uuid } };
    case "POST /v1/agent/status":
      return { payload: { mine: true }, server_uuid: of.server_uuid };
    case "POST /v2/booter/seen":
      return { mac: of.mac };
    case "POST /v2/booter/announce":
      return { ...accepted, server_uuid: of.server_uuid };
    default:
      return accepted;
  }
}

/** Tables to which any request may add a row. The test does not compare them. */
const LOGS = ["audit_event", "audit_head", "seen", "idempotency", "failure_count", "transition", "api_key_use"];

/** Returns all rows that name the other node or its objects. */
async function rowsOfOther(): Promise<Dump> {
  const ids = [other.server_uuid, other.mac, ...Object.values(other.jobs)];
  const dump = await dumpTables(t.db, LOGS);
  return new Map([...dump].map(([table, rows]) => [table, rows.filter((row) => ids.some((id) => row.includes(id)))]));
}

/** Returns whether an answer contains an id of the other node or of its objects. */
function leaked({ text }: Answer): boolean {
  return [other.server_uuid, other.mac, ...Object.values(other.jobs)].some((id) => text.includes(id));
}

test("S-01: the table has exactly one row for each route that can name a node or one of its objects", () => {
  expect([...EXPECTED.keys()].sort()).toEqual(routes.filter(namesNode).map(({ name }) => name).sort());
  for (const [route, cells] of EXPECTED) expect([route, cells.length]).toEqual([route, 2 * OBJECTS.length]);
});

describe("S-01, S-13: a node's key gets the statuses of the table, and neither changes nor reads another node's objects", () => {
  test.each([...EXPECTED])("%s", async (route, cells) => {
    const [method = ""] = route.split(" ");
    const found: string[] = [];
    const before = await rowsOfOther();
    for (const caller of callers.values()) {
      for (const objects of OBJECTS) {
        const statuses = new Set<number>();
        for (const { path, body } of await requestsOf(route, caller, objects)) {
          const answer = await t.call(method, path, { key: caller.key, body });
          statuses.add(answer.status);
          if (objects === "other") expect([route, path, leaked(answer)]).toEqual([route, path, false]);
        }
        found.push([...statuses].sort().join("+"));
      }
    }
    expect(found).toEqual(cells);
    expect(changedRows(before, await rowsOfOther())).toEqual([]);
  });
});

describe("S-13: a request that names another node in its query, headers or body acts only for the key's own node", () => {
  const AGENT = [...EXPECTED.keys()].filter((route) => route.includes(" /v1/agent/"));

  test.each(AGENT)("%s", async (route) => {
    const [method = ""] = route.split(" ");
    const caller = callers.get("node")!;
    const ids = { server_uuid: other.server_uuid, cn: other.server_uuid, cn_id: other.server_uuid };
    const named = { ...ids, node: other.server_uuid, host_cn_uuid: other.server_uuid, target_cn: other.server_uuid };
    const query = new URLSearchParams({ ...named, claimed_by: other.server_uuid, job_id: other.jobs.in_progress! });
    const headers = { "x-server-uuid": other.server_uuid, "x-poll-token": other.poll_token, cookie: `cn=${other.mac}` };
    const before = await rowsOfOther();
    const statuses: number[] = [];
    for (const objects of ["own", "other"] as const) {
      for (const { path, body } of await requestsOf(route, caller, objects)) {
        const more = typeof body === "object" && method !== "GET" ? { ...named, ...body } : body;
        const sent = { key: caller.key, headers, body: more };
        const answer = await t.call(method, `${path}?${query}`, sent);
        statuses.push(answer.status);
        expect([path, answer.status, leaked(answer)]).toEqual([path, answer.status, false]);
      }
    }
    // A route refuses or ignores fields and parameters that it does not know.
    expect(statuses.filter((status) => ![200, 400, 403, 404, 409].includes(status))).toEqual([]);
    expect(changedRows(before, await rowsOfOther())).toEqual([]);
  });

  test("a report changes the record of the key's own node", async () => {
    const { key, server_uuid } = callers.get("node")!;
    const payload = { note: randomUUID() };
    const body = { payload, server_uuid: other.server_uuid };
    okOf(await t.call("POST", `/v1/agent/status?server_uuid=${other.server_uuid}`, { key, body }));
    const shown = async (id: string) => okOf(await t.call("GET", `/v1/system/cns/${id}`)).last_status;
    expect([await shown(server_uuid), await shown(other.server_uuid)]).toEqual([payload, { of: other.server_uuid }]);
  });

  test("a heartbeat that names jobs of two nodes renews only the lease of the sender's job", async () => {
    const { key, server_uuid } = callers.get("node")!;
    const own = await jobOf(server_uuid, "in_progress");
    const lease = async (id: string) => {
      const { rows } = await t.db.query(
        "select greatest(lease_until, renewed_at + make_interval(secs => lease_s))::text as until from job left join job_signal on job_id = id where id = $1",
        [id],
      );
      return rows[0].until;
    };
    const before = [await lease(own), await lease(other.jobs.in_progress!)];
    await t.advance(60);
    okOf(await t.call("POST", "/v1/agent/heartbeat", { key, body: { running_jobs: [own, other.jobs.in_progress] } }));
    const after = [await lease(own), await lease(other.jobs.in_progress!)];
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([false, true]);
  });

  test("a claim returns no job and no tombstone of another node", async () => {
    const { key, server_uuid, jobs } = callers.get("node")!;
    for (let job = true; job;) {
      const answer = await t.call("POST", "/v1/agent/claim", { key, body: { claimed_by: server_uuid } });
      expect(leaked(answer)).toBe(false);
      job = okOf(answer).job !== null;
    }
    const { rows } = await t.db.query("select state from job where id = any($1)", [[jobs.pending, other.jobs.pending]]);
    expect(rows.map(({ state }) => state).sort()).toEqual(["in_progress", "pending"]);
  });

  test("a registration with the key of one node changes and deletes no row of another node", async () => {
    const { key } = callers.get("node")!;
    const before = await rowsOfOther();
    const body = {
      server_uuid: other.server_uuid,
      hostname: "taken",
      admin_ip: "192.0.2.66",
      sysinfo: { taken: true },
    };
    const { status } = await t.call("POST", "/v1/agent/register", { key, body });
    expect(status).toBeLessThan(500);
    expect(changedRows(before, await rowsOfOther()).filter((change) => change.startsWith("- "))).toEqual([]);
  });
});
