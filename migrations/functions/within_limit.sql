-- Returns whether a use may grow by `asked`: its limit is the quota's when there is a quota (`quota` is not null), else
-- the default. A null limit is unlimited, and a use may always shrink. quota_broken applies the same
-- rule and names the limit. PostgreSQL inlines within_limit.
create or replace function within_limit(used bigint, asked text, quota uuid, own bigint, standard text)
returns boolean language sql immutable as $$
  select coalesce(asked::bigint <= 0 or used + asked::bigint <= case when quota is null then standard::bigint else own end,
                  true) $$;
