// Checks INV-8, INV-9, INV-13 and INV-14, which are about nodes, boot records, credentials, setups and the auto-approve
// window.
import { AUTO_APPROVE_SECS_MAX, SETUP_LIMIT_MS } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";
import { CLAIM_CHECKS } from "./claims.ts";
import { logIn, type Scope } from "./scope.ts";

/** Background passes undo a setup within a minute of its deadline. */
const SETUP_OVER_S = SETUP_LIMIT_MS / 1_000 + 60;

/**
 * SQL that lists two kinds of transitions: transitions of the actor `site`, which open and close the auto-approve
 * window, and automatic approvals of nodes. For each row, `open` is true if the last transition of `site` up to this
 * row opened a window. `opened_at`, `ends_at` and `count_max` are the limits of this window. Rows with higher ids
 * happened later, because a commit locks the window's budget row before it writes its transitions. There is one
 * exception: if a commit contains both approvals and a transition of `site` (with the same xid and time), the approvals
 * came first.
 */
const AUTO_APPROVALS = (scope: Scope) => `
    with logged as (
      select id, xid, actor_id, at, actor_kind = 'site' as is_step, event = 'open_window' as opens,
             audit is not null as is_whole, (audit->'payload'->>'count')::bigint as count,
             at + (audit->'payload'->>'effective_duration_secs')::bigint * interval '1 second' as expires_at
        from ${logIn(scope)} l
       where actor_kind = 'site'
          or (actor_kind = 'cn' and event in ('join', 'register') and from_state = 'absent' and to_state = 'approved')),
    placed as (
      select *, least(id, min(id) filter (where is_step) over (partition by xid, at)) as place from logged),
    parted as (
      select *, count(*) filter (where is_step) over (order by place, is_step, id) as part from placed),
    taken as (
      select part, actor_id, at, is_step, opens, expires_at, is_whole, bool_or(opens) over whole as open,
             min(at) filter (where is_step) over whole as opened_at,
             min(count) filter (where is_step) over whole as count_max,
             min(expires_at) filter (where is_step) over whole as ends_at,
             count(*) filter (where not is_step) over (partition by part order by place, is_step, id) as number
        from parted window whole as (partition by part))`;

export const nodeChecks = (scope: Scope): readonly Check[] => [
  invariant(
    "INV-8",
    "an enrolled boot record has an address, an image and a node that is or was set up",
    `
    select format('boot record %s of node %s (%s)', r.mac, r.server_uuid, cn.state) as what
      from boot_record r left join cn on cn.server_uuid = r.server_uuid
     where r.state = 'enrolled' and (r.assigned_pi is null or r.address is null or cn.state is null
        or cn.state in ('awaiting_setup', 'setting_up'))`,
  ),
  invariant(
    "INV-8",
    "a discovered boot record is not bound to a node",
    `
    select format('boot record %s is bound to %s', mac, server_uuid) as what
      from boot_record where state = 'discovered' and server_uuid is not null`,
  ),
  invariant(
    "INV-9",
    "a node's live key is the key in its record",
    `
    select format('key %s of node %s (%s)', k.id, k.bound_to_cn, cn.state) as what
      from api_key k left join cn on cn.server_uuid = k.bound_to_cn
     where k.bound_to_cn is not null and cn.bound_api_key_id is distinct from k.id`,
  ),
  invariant(
    "INV-9",
    "the key in a node's record is live",
    `
    select format('node %s (%s) names key %s', server_uuid, state, bound_api_key_id) as what from cn
     where bound_api_key_id is not null and not exists (select from api_key k
       where k.id = cn.bound_api_key_id and k.bound_to_cn = cn.server_uuid)`,
  ),
  invariant(
    "INV-9",
    "an unproven node and a node that awaits setup have no key; a pending node has no credential to deliver",
    `
    select format('node %s (%s)', server_uuid, state) as what from cn
     where ((unproven or state = 'awaiting_setup') and (bound_api_key_id is not null or ticket_keys is not null))
        or (state in ('pending', 'awaiting_setup') and pending_credential is not null)`,
  ),
  ...CLAIM_CHECKS,
  invariant(
    "INV-9",
    "the key of a setup is no longer readable after the setup's first report",
    `
    select format('node %s, setup %s', server_uuid, setup_epoch) as what from cn
     where pending_credential is not null and (setup_progress->>'epoch')::bigint = setup_epoch`,
  ),
  invariant(
    "INV-13",
    "no setup is still in progress 60 s after its deadline",
    `
    select format('node %s, approved at %s', server_uuid, approved_at) as what from cn
     where state = 'setting_up' and approved_at + interval '${SETUP_OVER_S} seconds' < (select berth_now())`,
  ),
  invariant(
    "INV-13",
    "each setup has its own epoch",
    `
    select format('epoch %s of nodes %s', setup_epoch, string_agg(server_uuid::text, ', ')) as what
      from cn where setup_epoch is not null group by setup_epoch having count(*) > 1`,
  ),
  invariant(
    "INV-14",
    "an open auto-approve window is not too long, and its budget has the window's expiry and at most the window's count",
    `
    select format('window of %s, %s left, until %s', s.window_count, b.remaining, s.window_expires_at) as what
      from site s left join budget b on b.name = 'auto-approve'
     where s.state = 'window_open' and (b.name is null or b.expires_at is distinct from s.window_expires_at
        or (b.remaining is null) <> (s.window_count is null) or b.remaining not between 0 and s.window_count
        or s.window_expires_at > s.window_opened_at + interval '${AUTO_APPROVE_SECS_MAX} seconds')`,
  ),
  invariant(
    "INV-14",
    "no auto-approve window was too long, and each automatic approval was within the count and time of an open window",
    `${AUTO_APPROVALS(scope)}
    select case when is_step then format('window of %s, until %s', at, expires_at)
                when open then format('node %s, approved at %s as number %s of %s, window of %s until %s', actor_id, at,
                                      number, coalesce(count_max::text, 'any'), opened_at, ends_at)
                else format('node %s, approved at %s without a window', actor_id, at) end as what
      from taken, log_retention
     where (part > 0 or ${scope === "all"} and log_retention.dropped_before is null)
       and case when is_step
                then opens and is_whole and coalesce(expires_at > at + interval '${AUTO_APPROVE_SECS_MAX} seconds', true)
                else not open or at >= ends_at or number > count_max end`,
  ),
];
