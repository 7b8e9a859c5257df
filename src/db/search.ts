// Finds objects by a part of their name, by the beginning of their id, or by an address.
import type { SearchHit } from "../contract/search.ts";
import type { DbClient } from "./pool.ts";

export type SearchQuery = {
  readonly q: string;
  readonly limit: number;
  /** Only objects of this tenant; null: objects of all tenants, and of the fleet. */
  readonly tenant_id: string | null;
};

/** $1: the text as a pattern; $2: the beginning of an id as a pattern; $3: the tenant or null; $4: rows. */
const SEARCH = `
  select kind, id, name, hint from (
    (select 'cn' as kind, server_uuid::text as id, hostname as name, coalesce(host(admin_ip), serial, state) as hint
       from cn where $3::uuid is null and (lower(hostname) like $1 or server_uuid::text like $2 or lower(serial) like $1
        or host(admin_ip) like $1 or array_to_string(macs, ' ') like $1) order by hostname limit $4)
    union all
    (select 'cn', c.server_uuid::text, c.hostname, 'claim code ' || left(k.claim_code, 3) || '-' || right(k.claim_code, 3)
       from enrolment_claim k join cn c using (server_uuid)
      where $3::uuid is null and lower(k.claim_code) like replace($2, '-', '') and k.expires_at > berth_now() limit $4)
    union all
    (select 'instance', id::text, name, state from instance i
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id::text like $2
        or exists (select from nic n where n.instance_id = i.id and (host(n.primary_ipv4) like $1 or host(n.primary_ipv6) like $1
          or exists (select from unnest(n.additional_ips) a where host(a) like $1))))
      order by name limit $4)
    union all
    (select 'floating_ip', id::text, name, host(address) from floating_ip
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id::text like $2 or host(address) like $1)
      order by name limit $4)
    union all
    (select 'vpc', id::text, name, null from vpc
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id::text like $2) order by name limit $4)
    union all
    (select 'project', id::text, name, null from project
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id::text like $2) order by name limit $4)
    union all
    (select 'tenant', id::text, name, null from tenant
      where $3::uuid is null and (lower(name) like $1 or id::text like $2) order by name limit $4)
    union all
    (select 'silo', id::text, name, null from silo
      where $3::uuid is null and (lower(name) like $1 or id::text like $2) order by name limit $4)
    union all
    (select 'operation', id::text, saga, state from saga where id::text like $2
      and ($3::uuid is null or refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $3::text))) limit $4)
    union all
    (select 'job', id::text, kind, state from job where $3::uuid is null and id::text like $2 limit $4)
  ) found
  -- Names that begin with the text are better than names that contain it.
  order by lower(name) not like $2, length(name), name, kind limit $4`;

export function createSearch(db: Pick<DbClient, "query">) {
  return async function search({ q, limit, tenant_id }: SearchQuery): Promise<SearchHit[]> {
    const literal = q.toLowerCase().replace(/[\\%_]/g, "\\$&");
    const { rows } = await db.query<SearchHit>(SEARCH, [`%${literal}%`, `${literal}%`, tenant_id, limit]);
    return [...rows];
  };
}
