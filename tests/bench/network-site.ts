// Opens a control plane with its own database, one tenant, a VPC with very many routes and firewall rules, and other
// VPCs. The insertions alternate between the VPCs. So the rows of each VPC are spread over the whole table, as after
// years of use.
import { randomBytes } from "node:crypto";
import type { Vpc } from "../../src/contract/network.ts";
import { KEY_LOOKUP_CHARS, KEY_SECRET_CHARS } from "../../src/contract/limits.ts";
import { readConfig } from "../../src/config.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";
import { formatApiKey } from "../../src/lib/ids/api-key.ts";
import { type ControlPlane, openControlPlane } from "../../src/wiring.ts";
import { benchDatabase } from "./bench-database.ts";

/** The numbers of routes. The site has the same numbers of firewall rules. */
export type SiteSize = {
  /** The number of routes in the measured VPC. */
  readonly rows: number;
  /** The number of other VPCs. */
  readonly others: number;
  /** The number of routes in each of the other VPCs. */
  readonly rows_each: number;
};

export type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string }>;

export type NetworkSite = {
  readonly name: string;
  readonly databaseUrl: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly vpc_id: string;
  readonly route_table_id: string;
  /** The ids of the measured VPC's routes in the order of their list. */
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  /** Sends a request with the tenant's key through the complete HTTP handler. */
  readonly call: Call;
  /** Sends a request with the root key. */
  readonly asRoot: Call;
  /** Opens the control plane again, so that its connections use the current settings of the database. */
  reopen(): Promise<void>;
  close(): Promise<void>;
};

/** The address of the client. It is in a range for documentation (RFC 5737). */
const ADDRESS = "192.0.2.10";
/**
 * The statement timeout of the insertions and of ANALYZE. With a million rows, both take longer than the statement
 * timeout of Berth's server.
 */
const FILL_LIMIT_MS = 600_000;

export async function openNetworkSite(
  serverUrl: string,
  { name, size }: { readonly name: string; readonly size: SiteSize },
): Promise<NetworkSite> {
  const url = await benchDatabase(serverUrl, name);
  const root = formatApiKey(letters(KEY_LOOKUP_CHARS), letters(KEY_SECRET_CHARS));
  const config = readConfig({ BERTH_ROOT_KEY: root, BERTH_SECRET_KEY: randomBytes(32).toString("hex") });
  const open = () => openControlPlane({ config, databaseUrl: url, resident: true, show: () => {} });
  let plane: ControlPlane = await open();

  const callWith = (key: string): Call => async (method, path, body) => {
    const request = new Request(`http://berth.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await plane.fetch(request, { remoteAddress: ADDRESS });
    return { status: response.status, text: await response.text() };
  };
  const asRoot = callWith(root);
  const make = (path: string, body: unknown) => made<{ id: string; secret: string }>(asRoot, path, body);
  const silo = await make("/v1/silos", { name: "silo" });
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, { name: "tenant" });
  const project = await make(`/v1/tenants/${tenant.id}/projects`, { name: "project" });
  const key = await make(`/v1/tenants/${tenant.id}/api-keys`, { description: "bench" });
  const call = callWith(key.secret);
  const vpc = await made<Vpc>(call, `/v1/vpcs?tenant=${tenant.id}&project=${project.id}`, {
    name: "measured",
    ipv4_block: "10.0.0.0/8",
    ipv6_block: "fd01::/16",
  });
  const ids = await fill(url, vpc.id, size);
  return {
    name,
    databaseUrl: url,
    tenant_id: tenant.id,
    project_id: project.id,
    vpc_id: vpc.id,
    route_table_id: vpc.main_route_table_id,
    ...ids,
    call,
    asRoot,
    reopen: async () => {
      await plane.close();
      plane = await open();
    },
    close: () => plane.close(),
  };
}

/** Sends a POST and returns the new object. Throws if the status is not 201. */
export async function made<T>(call: Call, path: string, body: unknown): Promise<T> {
  const { status, text } = await call("POST", path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  return JSON.parse(text);
}

function letters(count: number): string {
  return randomBytes(count).toString("base64url").slice(0, count);
}

/** SQL that inserts the other VPCs of the project. $1 is the measured VPC, and $2 is the number of other VPCs. */
const OTHER_VPCS = `
  with other as (
    select gen_random_uuid() as id, gen_random_uuid() as route_table_id, n, v.tenant_id, v.project_id,
           4096 + n + case when 4096 + n >= v.vni then 1 else 0 end as vni
      from vpc v, generate_series(0, $2::int - 1) n where v.id = $1),
  tables as (
    insert into route_table (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description, is_main,
                             created_at)
    select route_table_id, gen_random_uuid(), 1, 'live', tenant_id, project_id, id, 'main', '', true, berth_now()
      from other)
  insert into vpc (id, incarnation, version, state, tenant_id, project_id, main_route_table_id, name, description, vni,
                   ipv4_block, ipv6_block, created_at)
  select id, gen_random_uuid(), 1, 'live', tenant_id, project_id, route_table_id, 'other-' || n, '', vni, '10.0.0.0/8',
         'fd01::/16', berth_now() from other`;

/**
 * SQL that returns the rows to insert. The rows alternate between all VPCs. $1 is the measured VPC, $2 is its number of
 * rows, and $3 is the number of rows of each other VPC.
 */
const IN_TURNS = `
  select v.tenant_id, v.project_id, v.id as vpc_id, v.main_route_table_id as route_table_id, k
    from (select *, case when id = $1 then $2::int else $3::int end as rows from vpc) v, generate_series(0, rows - 1) k
   order by k::float8 / rows, v.id`;
const ROUTES = `
  insert into route (id, incarnation, version, state, tenant_id, project_id, vpc_id, route_table_id, name, description,
                     destination, target_kind, created_at)
  select uuidv7(), gen_random_uuid(), 1, 'live', tenant_id, project_id, vpc_id, route_table_id, 'route-' || k, '',
         set_masklen('10.0.0.0'::inet + k * 256, 24), 'blackhole', berth_now() from (${IN_TURNS}) row`;
const RULES = `
  insert into firewall_rule (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description, priority,
                             direction, action, protocol, destination_cidr, destination_ports, created_at)
  select uuidv7(), gen_random_uuid(), 1, 'live', tenant_id, project_id, vpc_id, 'rule-' || k, '', k % 65536, 'inbound',
         'allow', 'tcp', set_masklen('10.0.0.0'::inet + k * 256, 24), '{"low": 443, "high": 443}', berth_now()
    from (${IN_TURNS}) row`;

async function fill(url: string, vpc_id: string, { rows, others, rows_each }: SiteSize) {
  const session = async <T>(use: (client: Connection) => Promise<T>): Promise<T> => {
    const client = await openClient({ url, statementLimit_ms: FILL_LIMIT_MS });
    try {
      // Disables the checks of foreign keys. All referenced rows exist, and the checks would take longer than the rest
      // of the insertion.
      await client.query("set session_replication_role = replica");
      return await use(client);
    } finally {
      await client.end();
    }
  };
  await session((client) => client.query(OTHER_VPCS, [vpc_id, others]));
  await Promise.all(
    [ROUTES, RULES].map((sql) => session((client) => client.query(sql, [vpc_id, rows, rows_each]))),
  );
  return await session(async (client) => {
    await client.query("vacuum (analyze) vpc, route_table, route, firewall_rule");
    // Writes the new rows to disk now, so that no checkpoint writes them during the measurement.
    await client.query("checkpoint");
    const ids = async (table: string) => {
      const found = await client.query<{ id: string }>(`select id from ${table} where vpc_id = $1 order by id`, [
        vpc_id,
      ]);
      return found.rows.map(({ id }) => id);
    };
    return { routes: await ids("route"), rules: await ids("firewall_rule") };
  });
}
