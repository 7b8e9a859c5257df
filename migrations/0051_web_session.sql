-- Sessions of the web console. A browser has a cookie instead of tokens. Each use of the session extends it.
alter table session
  add column kind text not null default 'token' check (kind in ('token', 'web')),
  -- The key that opened the session. The session has the key's rights and ends with the key.
  add column api_key_id uuid constraint session_api_key_id_fkey references api_key (id) on delete cascade,
  -- The rights that a token of the identity service granted. The user account does not contain them.
  add column granted_root boolean not null default false,
  add column granted_scope text check (granted_scope in ('full', 'read_only'));
create index session_of_api_key on session (api_key_id) where api_key_id is not null;
