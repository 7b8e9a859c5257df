-- A console session: one connection of a caller to the serial console of an instance, from the ticket to the end. The
-- transferred data is not stored. An ended session is deleted. The audit chain records who had the session and when.
create table console_session (
  id                uuid primary key,
  incarnation       uuid not null,
  version           bigint not null check (version > 0),
  wake_at           timestamptz,
  state             text not null check (state in ('ticket', 'calling', 'told', 'open')),
  -- No foreign key: a deleted instance ends its sessions by messages, so that each end is audited.
  instance_id       uuid not null,
  -- The node of the instance, which must connect to the server.
  cn                uuid not null,
  mode              text not null check (mode in ('write', 'watch', 'log')),
  take_over         boolean not null,
  history_bytes     integer not null check (history_bytes >= 0),
  -- The caller's credential, which is checked again during the session. key_id or login_id names the key or the login.
  -- A token of an external issuer has neither id, and ends at credential_expires_at.
  user_id           uuid not null,
  username          text not null,
  key_id            uuid,
  login_id          uuid,
  credential_expires_at timestamptz,
  -- Whether the caller has root rights. The row of the user does not contain the root rights that a token of an
  -- external issuer grants.
  is_root           boolean not null,
  -- SHA-256 of the ticket, in hex. Null if no ticket was issued.
  ticket_sha256     text,
  -- The address at which the node connects to the process that has the caller's connection. Null: the agent's endpoint.
  relay_url         text,
  created_at        timestamptz not null,
  -- The end of the ticket, of the wait for the node, or of the lease of the process that relays the data.
  expires_at        timestamptz not null
);
create unique index console_session_ticket on console_session (ticket_sha256) where state = 'ticket';
-- The index has few rows, because a session waits only some milliseconds for its node.
create index console_session_calling on console_session (cn) where state in ('calling', 'told');
create index console_session_due on console_session (wake_at) where wake_at is not null;
insert into actor_kind values ('console-session', 'console_session', 'id');
