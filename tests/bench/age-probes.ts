// Builds the actions whose costs are measured with each number of rows: lists, claims, commits, sweeps of background
// work, and the checks of the doctor.
import { randomBytes } from "node:crypto";
import { behaviors, timedKinds } from "../../actors/registry.ts";
import { createAuditSigner } from "../../src/auth/audit-signature.ts";
import { LOG_RETENTION_S_DEFAULT } from "../../src/contract/limits.ts";
import { chainPending } from "../../src/db/audit-chain.ts";
import { closeDenials } from "../../src/db/audit-denial.ts";
import { pruneIdempotency } from "../../src/db/idempotency.ts";
import { pruneLimits } from "../../src/db/limits.ts";
import { maintain } from "../../src/db/maintenance.ts";
import type { Db } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { CONDITIONS } from "../../src/doctor/conditions.ts";
import { examine } from "../../src/doctor/examine.ts";
import { invariants } from "../../src/doctor/invariants.ts";
import { VERSION } from "../../src/version.ts";
import type { AgeSite } from "./age-site.ts";

export type Probe = {
  readonly group: "list" | "claim or commit" | "sweep" | "doctor";
  readonly name: string;
  readonly run: () => Promise<unknown>;
};

/** The number of rows on each page. */
const PAGE_ROWS = 50;
/** A late page is the page after this number of pages, or the last page of a shorter list. */
const LATE_PAGES = 20;

/** Returns the probes of a site. `db` has the rights of the server, and `owner` has the rights of the tables' owner. */
export async function probesOf(site: AgeSite, { db, owner }: { db: Db; owner: Db }): Promise<Probe[]> {
  return [...await lists(site), ...await commits(site, owner), ...sweeps(site, db), ...checks(db)];
}

async function lists({ call, keys, project_id, tenant_id, route_table_id, subnet_id, server_uuid, vpc_id }: AgeSite) {
  const { body: [operation] } = await call("GET", "/v1/operations?limit=1");
  const { body: { items: [instance] } } = await call("GET", "/v1/system/instances?limit=1");
  const own = `tenant=${tenant_id}&project=${project_id}`;
  const paths = [
    "/v1/system/instances?",
    "/v1/system/instances?state=stopped",
    "/v1/system/instances?q=vm-7",
    `/v1/system/instances?cn=${server_uuid}`,
    `/v1/system/cns/${server_uuid}/instances?`,
    `/v1/instances?${own}`,
    `/v1/instances?${own}&state=stopped`,
    `/v1/routes?route_table=${route_table_id}`,
    `/v1/nics?subnet=${subnet_id}`,
    `/v1/disks?${own}`,
    `/v1/subnets?vpc=${vpc_id}`,
    "/v1/system/cns?",
    "/v1/system/cns?state=approved",
    "/v1/system/cns?state=pending",
    "/v1/system/jobs?",
    "/v1/system/jobs?status=completed",
    "/v1/system/jobs?status=failed",
    `/v1/system/jobs?cn=${server_uuid}`,
    `/v1/system/jobs?instance=${instance.id}`,
  ];
  const get = (path: string, key = keys.root) => () => call("GET", path, { key });
  const named = (path: string) => path.replaceAll(/=[0-9a-f-]{36}/g, "=ID").replaceAll(/\/[0-9a-f-]{36}/g, "/ID");
  const probes: Probe[] = [];
  const list = (path: string, run: () => Promise<unknown>, what = "") =>
    probes.push({ group: "list", name: `GET ${named(path)}${what}`, run });
  for (const start of paths) {
    const path = `${start}${start.endsWith("?") ? "" : "&"}limit=${PAGE_ROWS}`;
    const key = start.startsWith("/v1/system") ? keys.root : keys.tenant;
    list(start, get(path, key));
    const late = await latePage(async (token) => (await call("GET", `${path}${token}`, { key })).body.next_page);
    if (late !== null) list(start, get(`${path}${late}`, key), ", a late page");
  }
  list("/v1/operations", get(`/v1/operations?limit=${PAGE_ROWS}`));
  list("/v1/operations", get(`/v1/operations?limit=${PAGE_ROWS}&after_id=${operation.id}`), ", the second page");
  for (
    const filter of [
      "state=running",
      "state=stuck",
      "state=succeeded",
      "kind=node-join",
      `resource_scope=instance&resource_id=${instance.id}`,
    ]
  ) list(`/v1/operations?${filter}`, get(`/v1/operations?${filter}&limit=${PAGE_ROWS}`));
  for (
    const path of [
      "/v1/audit/events?",
      "/v1/audit/events?after_seq=800",
      "/v1/audit/events?order=desc",
      "/v1/audit/events?order=desc&action=instance_restart",
      "/v1/audit/events?order=desc&action=silo_create",
      `/v1/tenants/${tenant_id}/audit/events?`,
    ]
  ) list(path, get(`${path}&limit=${PAGE_ROWS}`));
  for (
    const path of [
      "/v1/system/nodes?limit=50",
      "/v1/system/nodes?limit=50&q=node-1",
      "/v1/system/summary",
      "/v1/system/capacity",
      "/v1/search?q=vm-77",
      "/v1/search?q=10.0.3",
      `/v1/search?q=${instance.id.slice(0, 8)}`,
    ]
  ) list(path, get(path));
  return probes;
}

/**
 * Follows page tokens. Returns the query parameter of the last page that was found, or null if the list has only one
 * page.
 */
async function latePage(next: (token: string) => Promise<string | null | undefined>): Promise<string | null> {
  let late: string | null = null;
  for (let page = 0; page < LATE_PAGES; page++) {
    const token = await next(late ?? "");
    if (token === null || token === undefined) break;
    late = `&page_token=${encodeURIComponent(token)}`;
  }
  return late;
}

async function commits({ call, keys, plane, route_table_id, server_uuid }: AgeSite, owner: Db): Promise<Probe[]> {
  const { rows: [instance] } = await owner.query<{ id: string }>(
    "select id from instance where host_cn_uuid = $1 and state = 'running' order by id limit 1",
    [server_uuid],
  );
  const id = instance!.id;
  let number = 0;
  const claim = { claimed_by: server_uuid, running_jobs: [] };
  const probe = (name: string, run: () => Promise<unknown>): Probe => ({ group: "claim or commit", name, run });
  return [
    probe("heartbeat of a node", () => call("POST", "/v1/agent/heartbeat", { key: keys.node, body: { server_uuid } })),
    probe("claim without a job", () => call("POST", "/v1/agent/claim", { key: keys.node, body: claim })),
    probe("restart of an instance: request, claim, blueprint, end", async () => {
      const restart = call("POST", `/v1/instances/${id}/restart`, {
        key: keys.tenant,
        headers: { prefer: "respond-async" },
      });
      await restart;
      const { body: { job } } = await call("POST", "/v1/agent/claim", { key: keys.node, body: claim });
      await call("GET", `/v1/agent/jobs/${job.id}/blueprint`, { key: keys.node });
      const end = { outcome: { kind: "completed" } };
      await call("POST", `/v1/agent/jobs/${job.id}/complete`, { key: keys.node, body: end });
      await plane.pass();
    }),
    probe("create and delete of a route, with idempotency keys", async () => {
      const destination = `192.168.${number++ % 256}.0/24`;
      const body = { name: `bench-${crypto.randomUUID().slice(0, 8)}`, destination, target: { kind: "blackhole" } };
      const headers = () => ({ "idempotency-key": crypto.randomUUID() });
      const path = `/v1/routes?route_table=${route_table_id}`;
      const made = await call("POST", path, { key: keys.tenant, body, headers: headers() });
      await call("DELETE", `/v1/routes/${made.body.id}`, { key: keys.tenant, headers: headers() });
    }),
    probe(
      "role of a node",
      () => call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: number++ % 2 === 0 ? "tenant" : "both" } }),
    ),
    probe("a refused request", () =>
      call("DELETE", `/v1/instances/${id}`, { key: keys.tenant }).then(
        () => Promise.reject(new Error("the delete of a running instance was not refused")),
        () => null,
      )),
  ];
}

function sweeps({ plane }: AgeSite, db: Db): Probe[] {
  const store = createStore(db, behaviors);
  // Every filled row is younger than this retention time, so the sweep deletes no row.
  const settings = { get: () => Promise.resolve({ value: LOG_RETENTION_S_DEFAULT }) };
  const signer = createAuditSigner(randomBytes(32));
  const sweep = (name: string, run: () => Promise<unknown>): Probe => ({ group: "sweep", name, run });
  return [
    sweep("all passes of background work", () => plane.pass()),
    sweep("due timers of all kinds", async () => {
      for (const kind of timedKinds) await store.due(kind, 200);
    }),
    sweep("outbox", () => store.outbox(200)),
    sweep("audit chain", () => chainPending(db)),
    sweep("old idempotency claims", () => pruneIdempotency(db)),
    sweep("old limits", () => pruneLimits(db)),
    sweep("denials", () => closeDenials(db)),
    sweep("maintenance: replies, operations, jobs, usage", () => maintain(db, { settings, signer, prune: [] })),
  ];
}

function checks(db: Db): Probe[] {
  const doctor = (name: string, run: () => Promise<unknown>): Probe => ({ group: "doctor", name, run });
  return [
    doctor("all checks", () => examine(db, { kinds: behaviors, release: VERSION, now_ms: Date.now, scope: "recent" })),
    ...[...CONDITIONS, ...invariants(behaviors, "recent")].map(({ id, title, query }) =>
      doctor(`${id}: ${title}`, async () => {
        const { rows } = await db.query(`select what from (${query}) found limit 21`);
        if (rows.length > 0) throw new Error(`${id}, ${title}: ${JSON.stringify(rows.slice(0, 3))}`);
      })
    ),
  ];
}
