-- Compute nodes. Only commit_units writes the rows. It checks the version, so each row has one writer at a time.
create table cn (
  server_uuid                 uuid primary key,
  incarnation                 uuid not null,
  version                     bigint not null check (version > 0),
  wake_at                     timestamptz,
  state                       text not null
    check (state in ('pending', 'approved', 'disabled', 'awaiting_setup', 'setting_up')),
  hostname                    text not null,
  role                        text not null check (role in ('tenant', 'edge', 'both')),
  admin_ip                    inet,
  sysinfo                     jsonb not null,
  console_listen_port         int check (console_listen_port between 1 and 65535),
  console_tls_spki_sha256_hex text,
  registered_at               timestamptz not null,
  approved_at                 timestamptz,
  -- Six characters without the hyphen. No two nodes have the same code.
  claim_code                  text,
  claim_code_expires_at       timestamptz,
  -- The poll token is derived from this id. Only the token's hash is stored.
  registration_id             uuid,
  poll_token_sha256           text,
  bound_api_key_id            uuid,
  -- pending_credential and ticket_keys are encrypted with the server's secret. pending_credential is the node's key
  -- until the node first uses it. ticket_keys contains three keys.
  pending_credential          text,
  ticket_keys                 text,
  last_setup_error            text,
  setup_progress              jsonb,
  disk_layout                 jsonb,
  check ((claim_code is null) = (claim_code_expires_at is null)),
  check (claim_code is null or state = 'pending'),
  check (state <> 'approved' or bound_api_key_id is not null)
-- Each page has room for the next version of a row, so most updates change no index (HOT).
) with (fillfactor = 50);
create unique index cn_claim_code on cn (claim_code) where claim_code is not null;
create unique index cn_poll_token on cn (poll_token_sha256) where poll_token_sha256 is not null;
create index cn_by_state on cn (state, registered_at, server_uuid);
create index cn_in_order on cn (registered_at, server_uuid);
create index cn_due on cn (wake_at) where wake_at is not null;
insert into actor_kind values ('cn', 'cn', 'server_uuid');

-- The placement settings of a node, which operators change. They override the cluster's memory reservoir; null: no
-- override.
create table cn_placement (
  server_uuid       uuid primary key,
  reservoir_enabled boolean,
  reservoir_percent double precision
);

-- Finds the node of a repeated approval by the id of the message.
create index transition_of_approval on transition (msg_id) where event = 'approve';
