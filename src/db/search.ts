// Finds objects by a part of a name, an address, a serial number or a MAC address, or by the beginning of an id or of a
// claim code.
import type { SearchHit, SearchQuery } from "../contract/search.ts";
import { isAddressPart } from "../lib/net/address-part.ts";
import { parseIp } from "../lib/net/ip-address.ts";
import type { DbClient } from "./pool.ts";

/**
 * The rank of a hit:
 * - 0: the text is its id. Tenants choose names, so a name that is an id must not hide the object with this id.
 * - 1: the text is its whole name, address or serial number.
 * - 2: its name begins with the text. Every operation, job and claim code has this rank.
 * - 3: every other hit.
 */
const rankOf = (name: string, or_exact = "", id = "id") =>
  `case when ${id} = $5 and ${id} = $6 then 0 when lower(${name}) = $8 ${or_exact} then 1
        when lower(${name}) like $2 then 2 else 3 end as rank`;
/** Keeps only the best hits of each kind. So many hits of one kind cannot hide the hits of another kind. */
const best = (name: string) => `order by rank, length(${name}), ${name} limit $4`;

/**
 * SQL condition that is true if the search wants this kind. It uses no column, so PostgreSQL does not read the tables
 * of the other kinds.
 */
const wanted = (kind: SearchHit["kind"]) => `coalesce($10::text, '${kind}') = '${kind}'`;

const OF_TENANT = "($3::uuid is null or tenant_id = $3)";
const HAS_ADDRESS = `$9::inet is not null and id in (
      select instance_id from nic where $9 in (primary_ipv4, primary_ipv6) or $9 = any(additional_ips))`;
/**
 * The hint of a tenant. The name of a tenant is unique only in its silo, and each silo is created with a tenant named
 * "default".
 */
const SILO_NAME = "(select silo.name from silo where silo.id = tenant.silo_id)";

/** The search for the objects of a kind by name or id. */
const named = (kind: SearchHit["kind"], is_visible: string, hint = "null") => `
    (select '${kind}', id::text, name, ${hint} as hint, ${rankOf("name")} from ${kind}
      where ${wanted(kind)} and ${is_visible} and (lower(name) like $1 or id between $5 and $6) ${best("name")})`;

/**
 * - $1: the text as a pattern
 * - $2: the beginning of a name as a pattern
 * - $3: the tenant or null
 * - $4: the maximum number of rows
 * - $5 and $6: the first and the last id that begin with the text, or null
 * - $7: whether the text can be a part of an address
 * - $8: the text
 * - $9: the text as an address, or null
 * - $10: the kind or null
 */
const SEARCH = `
  select kind, id, name, hint from (
    (select 'cn' as kind, server_uuid::text as id, hostname as name, coalesce(host(admin_ip), serial, state) as hint,
            ${rankOf("hostname", "or lower(serial) = $8 or admin_ip = $9::inet", "server_uuid")}
       from cn where ${wanted("cn")} and $3::uuid is null
        and (lower(hostname) like $1 or server_uuid between $5 and $6 or lower(serial) like $1
        or $7 and (host(admin_ip) like $1 or array_to_string(macs, ' ') like $1)) ${best("hostname")})
    union all
    (select 'cn', c.server_uuid::text, c.hostname, 'claim code ' || left(k.claim_code, 3) || '-' || right(k.claim_code, 3),
            2
       from enrolment_claim k join cn c using (server_uuid)
      where ${wanted("cn")} and $3::uuid is null and lower(k.claim_code) like replace($2, '-', '')
        and k.expires_at > (select berth_now()) limit $4)
    union all
    (select 'instance', id::text, name, state, ${rankOf("name", `or ${HAS_ADDRESS}`)} from instance
      where ${wanted("instance")} and ${OF_TENANT} and (lower(name) like $1 or id between $5 and $6
        or $7 and id in (
          select instance_id from nic where ${OF_TENANT} and host(primary_ipv4) like $1
          union all
          select instance_id from nic where ${OF_TENANT} and primary_ipv6 is not null and host(primary_ipv6) like $1
          union all
          select instance_id from nic
           where ${OF_TENANT} and additional_ips <> '{}'
             and exists (select from unnest(additional_ips) a where host(a) like $1)))
      ${best("name")})
    union all
    (select 'floating_ip', id::text, name, host(address), ${rankOf("name", "or address = $9::inet")} from floating_ip
      where ${wanted("floating_ip")} and ${OF_TENANT}
        and (lower(name) like $1 or id between $5 and $6 or $7 and host(address) like $1) ${best("name")})
    union all ${named("vpc", OF_TENANT)}
    union all ${named("project", OF_TENANT)}
    union all ${named("tenant", "$3::uuid is null", SILO_NAME)}
    union all ${named("silo", "$3::uuid is null")}
    union all
    (select 'operation', id::text, saga, state, 2 from saga where ${wanted("operation")} and id between $5 and $6
      and ($3::uuid is null or refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $3::text))) limit $4)
    union all
    (select 'job', id::text, kind, state, 2 from job
      where ${wanted("job")} and $3::uuid is null and id between $5 and $6 limit $4)
  ) found
  order by rank, length(name), name, kind limit $4`;

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export function createSearch(db: Pick<DbClient, "query">) {
  return async function search({ q, limit, tenant_id, kind }: SearchQuery): Promise<SearchHit[]> {
    const text = q.toLowerCase();
    const literal = text.replace(/[\\%_]/g, "\\$&");
    const address = parseIp(text) === null ? null : text;
    const patterns = [`%${literal}%`, `${literal}%`];
    const values = [...patterns, tenant_id, limit, ...idsFrom(text), isAddressPart(text), text, address, kind];
    const { rows } = await db.query<SearchHit>(SEARCH, values);
    return [...rows];
  };
}

/**
 * Returns the first and the last UUID that begin with a text in lower case; nulls if no UUID begins with this text. A
 * comparison with these two UUIDs uses the index of a primary key.
 */
function idsFrom(text: string): readonly [string, string] | readonly [null, null] {
  if (text.length > FIRST_ID.length) return [null, null];
  for (const [at, char] of [...text].entries()) {
    if (FIRST_ID[at] === "-" ? char !== "-" : !/[0-9a-f]/.test(char)) return [null, null];
  }
  return [text + FIRST_ID.slice(text.length), text + LAST_ID.slice(text.length)];
}
