// INV-8, INV-9, INV-13 and INV-14: what nodes, boot records, credentials, setups and the auto-approve window promise.
import { AUTO_APPROVE_SECS_MAX, SETUP_LIMIT_MS } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";

/** A setup is taken back at its deadline, by a pass that comes within a minute. */
const SETUP_OVER_S = SETUP_LIMIT_MS / 1_000 + 60;

export const NODE_CHECKS: readonly Check[] = [
  invariant(
    "INV-8",
    "an enrolled record has an address, an image and a node that is or was set up",
    `
    select format('boot record %s of node %s (%s)', r.mac, r.server_uuid, cn.state) as what
      from boot_record r left join cn on cn.server_uuid = r.server_uuid
     where r.state = 'enrolled' and (r.assigned_pi is null or r.address is null or cn.state is null
        or cn.state in ('awaiting_setup', 'setting_up'))`,
  ),
  invariant(
    "INV-8",
    "a record that is merely discovered is bound to no node",
    `
    select format('boot record %s is bound to %s', mac, server_uuid) as what
      from boot_record where state = 'discovered' and server_uuid is not null`,
  ),
  invariant(
    "INV-9",
    "a live key of a node is the one key that its record names",
    `
    select format('key %s of node %s (%s)', k.id, k.bound_to_cn, cn.state) as what
      from api_key k left join cn on cn.server_uuid = k.bound_to_cn
     where k.bound_to_cn is not null and cn.bound_api_key_id is distinct from k.id`,
  ),
  invariant(
    "INV-9",
    "the key that a record names is live",
    `
    select format('node %s (%s) names key %s', server_uuid, state, bound_api_key_id) as what from cn
     where bound_api_key_id is not null and not exists (select from api_key k
       where k.id = cn.bound_api_key_id and k.bound_to_cn = cn.server_uuid)`,
  ),
  invariant(
    "INV-9",
    "a node that is pending or awaits setup has no key and nothing to deliver",
    `
    select format('node %s (%s)', server_uuid, state) as what from cn where state in ('pending', 'awaiting_setup')
       and (bound_api_key_id is not null or pending_credential is not null or ticket_keys is not null)`,
  ),
  invariant(
    "INV-9",
    "after the first report of a setup its key can be read no more",
    `
    select format('node %s, setup %s', server_uuid, setup_epoch) as what from cn
     where pending_credential is not null and (setup_progress->>'epoch')::bigint = setup_epoch`,
  ),
  invariant(
    "INV-13",
    "no setup is older than its deadline and a pass",
    `
    select format('node %s, approved at %s', server_uuid, approved_at) as what from cn
     where state = 'setting_up' and approved_at + interval '${SETUP_OVER_S} seconds' < berth_now()`,
  ),
  invariant(
    "INV-13",
    "an epoch names one setup only",
    `
    select format('epoch %s of nodes %s', setup_epoch, string_agg(server_uuid::text, ', ')) as what
      from cn where setup_epoch is not null group by setup_epoch having count(*) > 1`,
  ),
  invariant(
    "INV-14",
    "an auto-approve window ends in time and approves no more than its count",
    `
    select format('window of %s, %s left, until %s', s.window_count, b.remaining, s.window_expires_at) as what
      from site s left join budget b on b.name = 'auto-approve'
     where s.state = 'window_open' and (b.name is null or b.expires_at is distinct from s.window_expires_at
        or (b.remaining is null) <> (s.window_count is null) or b.remaining not between 0 and s.window_count
        or s.window_expires_at > s.window_opened_at + interval '${AUTO_APPROVE_SECS_MAX} seconds')`,
  ),
];
