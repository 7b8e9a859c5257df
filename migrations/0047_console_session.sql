-- A console session: one connection of a caller to the serial console of an instance, from its ticket to its end. What
-- passes is not stored. An ended session is deleted; the audit chain keeps who had it and when.
create table console_session (
  id                uuid primary key,
  incarnation       uuid not null,
  version           bigint not null check (version > 0),
  wake_at           timestamptz,
  state             text not null check (state in ('ticket', 'calling', 'told', 'open')),
  -- Without a foreign key: a deleted instance ends its sessions by messages, so that each end is audited.
  instance_id       uuid not null,
  -- The node that is to dial.
  cn                uuid not null,
  mode              text not null check (mode in ('write', 'watch', 'log')),
  take_over         boolean not null,
  history_bytes     integer not null check (history_bytes >= 0),
  -- The credential of the caller, which is checked again while the session lasts. key_id or login_id, or neither for a
  -- token of another issuer, which ends at credential_expires_at.
  user_id           uuid not null,
  username          text not null,
  key_id            uuid,
  login_id          uuid,
  credential_expires_at timestamptz,
  -- The rights of a token of another issuer. The row of its user does not have them.
  is_root           boolean not null,
  -- SHA-256 of the ticket, in hex; null where no ticket was issued.
  ticket_sha256     text,
  -- The address at which the node reaches the process with the caller's connection; null: the node's own endpoint.
  relay_url         text,
  created_at        timestamptz not null,
  -- The end of the ticket, of the wait for the node, or of the lease of the process that relays.
  expires_at        timestamptz not null
);
create unique index console_session_ticket on console_session (ticket_sha256) where state = 'ticket';
-- Few rows at any time: a session waits for its node for some milliseconds.
create index console_session_calling on console_session (cn) where state in ('calling', 'told');
create index console_session_due on console_session (wake_at) where wake_at is not null;
insert into actor_kind values ('console-session', 'console_session', 'id');
