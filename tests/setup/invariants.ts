// What holds after every test, whatever it did: asked of the database itself. reliability.md, INV-7 to INV-9.
import { expect } from "vitest";
import type { Db } from "../../src/db/pool.ts";

/** Each query finds what breaks the rule that is its name. */
const RULES: Readonly<Record<string, string>> = {
  "INV-7: an address is of one record, inside its own network, and neither network, broadcast nor gateway": `
    select mac, address, networking from (
      select *, set_masklen(address, (networking->>'prefix_len')::int) as own,
             count(*) over (partition by address) as times from boot_record where address is not null) r
     where times > 1 or networking->>'address' <> host(address) or address = host(network(own))::inet
        or address = host(broadcast(own))::inet or host(address) = networking->>'gateway'
        or not (networking->>'gateway')::inet << network(own)`,
  "INV-7: no address is free and held at once": `
    select r.mac, r.address from boot_record r join pool p on p.id = 'admin-network'
      join pool_range f on f.pool_id = p.id and r.address - p.base between f.low and f.high`,
  "INV-7: what is free and what is held make up the range": `
    with policy as (
      select (admin_network->>'provision_start_ipv4')::inet as low, (admin_network->>'provision_end_ipv4')::inet as high,
             (admin_network->>'gateway')::inet as gateway from boot_policy where admin_network <> 'null')
    select * from (
      select high - low + 1 - (case when gateway between low and high then 1 else 0 end) as wanted,
             (select coalesce(sum(f.high - f.low + 1), 0) from pool_range f where pool_id = 'admin-network') as free,
             (select count(*) from boot_record where address between low and high) as held from policy) counts
     where wanted <> free + held`,
  "INV-8: an enrolled record has an address, an image and a node that is or was set up": `
    select r.mac from boot_record r left join cn on cn.server_uuid = r.server_uuid
     where r.state = 'enrolled' and (r.assigned_pi is null or r.address is null or cn.state is null
        or cn.state in ('awaiting_setup', 'setting_up'))`,
  "INV-8: a record that is merely discovered is bound to no node": `
    select mac from boot_record where state = 'discovered' and server_uuid is not null`,
  "INV-9: a live key of a node is the one key that its record names": `
    select k.id from api_key k left join cn on cn.server_uuid = k.bound_to_cn
     where k.bound_to_cn is not null and cn.bound_api_key_id is distinct from k.id`,
  "INV-9: the key that a record names is live": `
    select server_uuid from cn where bound_api_key_id is not null
       and not exists (select from api_key k where k.id = cn.bound_api_key_id)`,
  "INV-9: a node that awaits setup has no key and nothing to deliver": `
    select server_uuid from cn where state = 'awaiting_setup'
       and (bound_api_key_id is not null or pending_credential is not null or ticket_keys is not null)`,
  "INV-9: after the first report of a run its key can be read no more": `
    select server_uuid from cn where pending_credential is not null
       and (setup_progress->>'epoch')::bigint = setup_epoch`,
  "INV-13: no setup is older than its deadline and a pass": `
    select server_uuid from cn where state = 'setting_up' and approved_at + interval '46 minutes' < berth_now()`,
  "an epoch names one run only": `
    select setup_epoch from cn where setup_epoch is not null group by setup_epoch having count(*) > 1`,
};

export async function expectInvariants(db: Db): Promise<void> {
  const broken: Record<string, unknown> = {};
  for (const [rule, query] of Object.entries(RULES)) {
    const { rows } = await db.query(query);
    if (rows.length > 0) broken[rule] = rows;
  }
  expect(broken).toEqual({});
}
