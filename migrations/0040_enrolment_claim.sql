-- Enrolment claims (docs/nodes.md, "The claim-code path"). A claim contains what an anonymous registration reports
-- about a machine. The node gets this data only when an operator approves the claim's code. An ended claim is deleted.
create table enrolment_claim (
  id                          uuid primary key,
  incarnation                 uuid not null,
  version                     bigint not null check (version > 0),
  wake_at                     timestamptz,
  state                       text not null check (state = 'live'),
  -- Checked at the end of a commit, because a commit may delete the node before its claims.
  server_uuid                 uuid not null references cn (server_uuid) deferrable initially deferred,
  -- Six characters without the hyphen.
  claim_code                  text not null,
  expires_at                  timestamptz not null,
  -- The poll token is derived from this id. Only the token's hash is stored.
  registration_id             uuid not null,
  poll_token_sha256           text not null,
  hostname                    text not null,
  admin_ip                    inet,
  sysinfo                     jsonb not null,
  macs                        text[] not null,
  serial                      text,
  console_listen_port         int check (console_listen_port between 1 and 65535),
  console_tls_spki_sha256_hex text,
  -- source is the address of the last registration. source_bucket is the IPv4 address or IPv6 /64 whose limit of claims
  -- applies.
  source                      text not null,
  source_bucket               text not null,
  created_at                  timestamptz not null
);
create unique index enrolment_claim_code on enrolment_claim (claim_code);
create unique index enrolment_claim_poll_token on enrolment_claim (poll_token_sha256);
create index enrolment_claim_of_node on enrolment_claim (server_uuid, expires_at, id);
create index enrolment_claim_of_source on enrolment_claim (source_bucket, expires_at);
create index enrolment_claim_due on enrolment_claim (wake_at) where wake_at is not null;
insert into actor_kind values ('enrolment-claim', 'enrolment_claim', 'id');

-- An unproven record was created by an anonymous registration, and no operator ever approved it. It is deleted with its
-- last claim. Any other pending record was disabled before, and is disabled again when its last claim has ended.
-- claim_code and claim_code_expires_at of cn stay for processes of the previous release.
alter table cn add column unproven boolean not null default false,
  add constraint cn_unproven check (not unproven or state = 'pending');
create index cn_unproven on cn (server_uuid) where unproven;

-- Budgets: how many more claims a source and the site may have, and how many more unproven records. A row is created
-- when it is first needed, from the number of existing records. It is deleted when nothing is counted in it.
create function berth_claim_budget(of_name text, room bigint) returns void language plpgsql volatile as $$
begin
  -- Held from here on, since somebody else may be deleting it.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $$;
create function guard_claims_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
declare
  of_source constant text := 'claims-from:' || (args->>'source_bucket');
begin
  perform from budget where name = 'claims' for update;
  if not found then
    perform berth_claim_budget('claims', (args->>'site_max')::bigint - (select count(*) from enrolment_claim));
  end if;
  perform from budget where name = of_source for update;
  if not found then
    perform berth_claim_budget(of_source, (args->>'source_max')::bigint -
      (select count(*) from enrolment_claim where source_bucket = args->>'source_bucket'));
  end if;
  return true;
end $$;
create function guard_unproven_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
begin
  perform from budget where name = 'unproven-nodes' for update;
  if not found then
    perform berth_claim_budget('unproven-nodes', (args->>'max')::bigint - (select count(*) from cn where unproven));
  end if;
  return true;
end $$;

-- The caller holds the lock claims:<server_uuid>. An expired claim does not count, even while its row exists.
create function guard_node_has_room_for_claim(args jsonb) returns boolean language sql volatile as $$
  select count(*) < (args->>'max')::bigint from enrolment_claim
   where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now() $$;
create function guard_is_last_claim(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from enrolment_claim
    where server_uuid = (args->>'server_uuid')::uuid and id <> (args->>'id')::uuid) $$;

-- Returns the ended claims of one source to the budgets. The row of the site is locked first, as when claims are taken.
create function berth_give_claims(of_source text, given bigint, site_max bigint, source_max bigint) returns void
language plpgsql volatile as $$
begin
  update budget set remaining = remaining + given where name = 'claims';
  delete from budget where name = 'claims' and remaining >= site_max;
  update budget set remaining = remaining + given where name = 'claims-from:' || of_source;
  delete from budget where name = 'claims-from:' || of_source and remaining >= source_max;
end $$;
create function effect_claim_ended(args jsonb) returns void language sql volatile as $$
  select berth_give_claims(args->>'source_bucket', 1, (args->>'site_max')::bigint, (args->>'source_max')::bigint) $$;
-- Deletes all claims of a node except the claim {except}. The caller holds the lock claims:<server_uuid>.
create function effect_end_claims(args jsonb) returns void language plpgsql volatile as $$
declare
  gone record;
begin
  for gone in with ended as (delete from enrolment_claim where server_uuid = (args->>'server_uuid')::uuid
                                and id is distinct from (args->>'except')::uuid returning source_bucket)
              select source_bucket, count(*) as claims from ended group by source_bucket order by source_bucket loop
    perform berth_give_claims(gone.source_bucket, gone.claims, (args->>'site_max')::bigint,
                              (args->>'source_max')::bigint);
  end loop;
end $$;
create function effect_unproven_ended(args jsonb) returns void language plpgsql volatile as $$
begin
  update budget set remaining = remaining + 1 where name = 'unproven-nodes';
  delete from budget where name = 'unproven-nodes' and remaining >= (args->>'max')::bigint;
end $$;

-- A node has at most one key at the end of a commit. An approval that replaces a key creates the new key before it
-- deletes the old one.
drop index api_key_one_per_cn;
alter table api_key add constraint api_key_one_per_cn unique (bound_to_cn) deferrable initially deferred;

-- A pending node of the previous release becomes a record with one claim, so the token and the code of its agent stay
-- valid. The claim gets a transition and a stored reply, as every claim has them.
with of_pending as materialized (
  select cn.server_uuid, gen_random_uuid() as id, gen_random_uuid() as incarnation,
         (lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
          substr(random_hex, 14, 3) || '8' || substr(random_hex, 18, 15))::uuid as msg_id
    from (select *, replace(gen_random_uuid()::text, '-', '') as random_hex from cn) cn
   where state = 'pending' and claim_code is not null and poll_token_sha256 is not null),
claims as (
  insert into enrolment_claim
    select p.id, p.incarnation, 1, cn.claim_code_expires_at, 'live', cn.server_uuid, cn.claim_code,
           cn.claim_code_expires_at, cn.registration_id, cn.poll_token_sha256, cn.hostname, cn.admin_ip, cn.sysinfo,
           cn.macs, nullif(trim(case when jsonb_typeof(cn.sysinfo->'Serial Number') = 'string'
                                     then cn.sysinfo->>'Serial Number' end), ''),
           cn.console_listen_port, cn.console_tls_spki_sha256_hex, 'unknown', 'unknown', cn.registered_at
      from of_pending p join cn using (server_uuid)),
log as (
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
    select 'enrolment-claim', id, incarnation, 1, 'register', 'absent', 'live', msg_id, berth_now() from of_pending),
answers as (
  insert into seen select msg_id, '{"ok":null}' from of_pending)
update cn set claim_code = null, claim_code_expires_at = null, registration_id = null, poll_token_sha256 = null,
       unproven = not exists (select from transition t where t.actor_kind = 'cn' and t.actor_id = cn.server_uuid::text
                                 and t.incarnation = cn.incarnation and t.to_state in ('approved', 'disabled'))
 where server_uuid in (select server_uuid from of_pending);
