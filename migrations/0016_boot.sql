-- What machines boot: the site's boot policy, one boot record for each MAC address of the admin network, the declared
-- roster, and the staged platform images (docs/booting.md).
create table boot_policy (
  id                     text primary key check (id = 'site'),
  incarnation            uuid not null,
  version                bigint not null check (version > 0),
  wake_at                timestamptz,
  state                  text not null check (state = 'set'),
  auto_enroll            boolean not null,
  allowlist              jsonb not null,
  enrollment_pi          text,
  enrollment_kernel_args jsonb not null,
  admin_network          jsonb,
  updated_at             timestamptz not null
);
insert into actor_kind values ('boot-policy', 'boot_policy', 'id', 'text');

create table boot_record (
  mac         text primary key check (mac ~ '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$'),
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state in ('discovered', 'enrolling', 'enrolled', 'decommissioned')),
  address     inet,
  networking  jsonb,
  provenance  jsonb not null,
  server_uuid uuid,
  assigned_pi text,
  rescue      boolean not null,
  hostname    text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  -- INV-7: an address belongs to one record, in every state. A decommissioned record keeps its address.
  constraint boot_record_address unique (address),
  -- INV-8: an enrolled record has a node and an image.
  check (state <> 'enrolled' or (server_uuid is not null and assigned_pi is not null)),
  check ((address is null) = (networking is null))
);
create index boot_record_of_node on boot_record (server_uuid) where server_uuid is not null;
create index boot_record_by_state on boot_record (state, mac);
insert into actor_kind values ('boot-record', 'boot_record', 'mac', 'text');

create table boot_roster (
  id          text primary key check (id = 'site'),
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'set'),
  entries     jsonb not null,
  updated_at  timestamptz not null
);
insert into actor_kind values ('boot-roster', 'boot_roster', 'id', 'text');

-- The platform images that one booter has staged. staged_by is the id of the booter's API key.
create table staging (
  staged_by   uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'set'),
  stamps      jsonb not null,
  staged_at   timestamptz not null
);
insert into actor_kind values ('staging', 'staging', 'staged_by');

-- The addresses of the admin network that no boot record has. The authorization of a machine takes one of them. A
-- change of the boot policy computes the pool again.
insert into pool values ('admin-network', null);

-- Effects run inside commit_units, after the conditions of their choice hold. This effect computes the free ranges of
-- the pool: the offsets from {low} to {high}, without {except} and the addresses of boot records. Records keep their
-- addresses.
create function effect_rebuild_admin_pool(args jsonb) returns void language plpgsql volatile as $$
declare
  block inet := (args->>'network')::inet;
begin
  perform pg_advisory_xact_lock(hashtextextended('pool:admin-network', 0));
  delete from pool_range where pool_id = 'admin-network';
  update pool set base = block where id = 'admin-network';
  if block is null then
    return;
  end if;
  -- The gaps between what is taken, ends included; a block may be too large to look at each of its addresses.
  insert into pool_range (pool_id, low, high)
    select 'admin-network', before + 1, n - 1
      from (select n, lag(n, 1, (args->>'low')::bigint - 1) over (order by n) as before
              from (select value::bigint from jsonb_array_elements_text(args->'except')
                     union select r.address - block from boot_record r where r.address is not null
                     union select (args->>'high')::bigint + 1) taken(n)
             where n between (args->>'low')::bigint and (args->>'high')::bigint + 1) gaps
     where n - before > 1;
end $$;

-- A decision that used a version of the policy is valid only while the policy has this version.
create function guard_boot_policy_is(args jsonb) returns boolean language sql volatile as $$
  select coalesce((select version from boot_policy where id = 'site'), 0) = (args->>'version')::bigint $$;
-- After a factory reset, a node must be able to netboot into enrolment, so the policy must name an image.
create function guard_enrollment_pi_is_set(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy where id = 'site' and enrollment_pi is not null) $$;
-- A node that is approved or in setup keeps its boot record.
create function guard_no_active_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from cn where server_uuid = (args->>'server_uuid')::uuid
    and state in ('approved', 'setting_up')) $$;
-- The auto-approve window is also the enrolment window. An announcement takes no approval from it.
create function guard_enrolment_window_is_open(args jsonb) returns boolean language sql volatile as $$
  select exists (select from budget where name = 'auto-approve' and coalesce(remaining, 1) > 0
    and (expires_at is null or expires_at > berth_now())) $$;
