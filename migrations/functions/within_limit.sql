-- Returns whether the used amount may grow by `asked`. If there is a quota (`quota` is not null), the limit is `own`,
-- the limit of the quota. Without a quota, the limit is `standard`, the default. A null limit means unlimited, and a
-- decrease is always allowed. quota_broken applies the same rule and names the limit. PostgreSQL inlines within_limit.
create or replace function within_limit(used bigint, asked text, quota uuid, own bigint, standard text)
returns boolean language sql immutable as $$
  select coalesce(asked::bigint <= 0 or used + asked::bigint <= case when quota is null then standard::bigint else own end,
                  true) $$;
