// Finds objects by a part of their name, by the beginning of their id, or by an address.
import type { SearchHit } from "../contract/search.ts";
import { isAddressPart } from "../lib/net/address-part.ts";
import type { DbClient } from "./pool.ts";

export type SearchQuery = {
  readonly q: string;
  readonly limit: number;
  /** Only objects of this tenant; null: objects of all tenants, and of the fleet. */
  readonly tenant_id: string | null;
};

/**
 * $1: the text as a pattern; $2: the beginning of a name as a pattern; $3: the tenant or null; $4: rows; $5 and $6: the
 * first and the last id that begin with the text, or null; $7: whether the text can be a part of an address.
 */
const SEARCH = `
  select kind, id, name, hint from (
    (select 'cn' as kind, server_uuid::text as id, hostname as name, coalesce(host(admin_ip), serial, state) as hint
       from cn where $3::uuid is null and (lower(hostname) like $1 or server_uuid between $5 and $6 or lower(serial) like $1
        or $7 and (host(admin_ip) like $1 or array_to_string(macs, ' ') like $1)) order by hostname limit $4)
    union all
    (select 'cn', c.server_uuid::text, c.hostname, 'claim code ' || left(k.claim_code, 3) || '-' || right(k.claim_code, 3)
       from enrolment_claim k join cn c using (server_uuid)
      where $3::uuid is null and lower(k.claim_code) like replace($2, '-', '') and k.expires_at > berth_now() limit $4)
    union all
    (select 'instance', id::text, name, state from instance
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id between $5 and $6
        or $7 and id in (
          select instance_id from nic
           where ($3::uuid is null or tenant_id = $3) and (host(primary_ipv4) like $1 or host(primary_ipv6) like $1
              or exists (select from unnest(additional_ips) a where host(a) like $1))))
      order by name limit $4)
    union all
    (select 'floating_ip', id::text, name, host(address) from floating_ip
      where ($3::uuid is null or tenant_id = $3)
        and (lower(name) like $1 or id between $5 and $6 or $7 and host(address) like $1) order by name limit $4)
    union all
    (select 'vpc', id::text, name, null from vpc
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id between $5 and $6) order by name limit $4)
    union all
    (select 'project', id::text, name, null from project
      where ($3::uuid is null or tenant_id = $3) and (lower(name) like $1 or id between $5 and $6) order by name limit $4)
    union all
    (select 'tenant', id::text, name, null from tenant
      where $3::uuid is null and (lower(name) like $1 or id between $5 and $6) order by name limit $4)
    union all
    (select 'silo', id::text, name, null from silo
      where $3::uuid is null and (lower(name) like $1 or id between $5 and $6) order by name limit $4)
    union all
    (select 'operation', id::text, saga, state from saga where id between $5 and $6
      and ($3::uuid is null or refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $3::text))) limit $4)
    union all
    (select 'job', id::text, kind, state from job where $3::uuid is null and id between $5 and $6 limit $4)
  ) found
  -- Names that begin with the text are better than names that contain it.
  order by lower(name) not like $2, length(name), name, kind limit $4`;

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export function createSearch(db: Pick<DbClient, "query">) {
  return async function search({ q, limit, tenant_id }: SearchQuery): Promise<SearchHit[]> {
    const text = q.toLowerCase();
    const literal = text.replace(/[\\%_]/g, "\\$&");
    const values = [`%${literal}%`, `${literal}%`, tenant_id, limit, ...idsFrom(text), isAddressPart(text)];
    const { rows } = await db.query<SearchHit>(SEARCH, values);
    return [...rows];
  };
}

/**
 * Returns the first and the last UUID that begin with a text in lower case; nulls if none begins with it. A comparison
 * with both uses the index of a primary key, but a pattern for the id as text would read all rows.
 */
function idsFrom(text: string): readonly [string, string] | readonly [null, null] {
  if (text.length > FIRST_ID.length) return [null, null];
  for (const [at, char] of [...text].entries()) {
    if (FIRST_ID[at] === "-" ? char !== "-" : !/[0-9a-f]/.test(char)) return [null, null];
  }
  return [text + FIRST_ID.slice(text.length), text + LAST_ID.slice(text.length)];
}
