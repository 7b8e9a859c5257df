-- The role that runs migrations owns the tables. The server acts as berth_app, which can use the tables but not alter
-- them. People and tools that only read act as berth_reader. Roles belong to the database server, not to one database.
-- So a migration of another database may create the same roles at the same time; this is not an error.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['berth_app', 'berth_reader'] loop
    for attempt in 1..20 loop
      begin
        if not exists (select from pg_roles where rolname = role_name) then
          execute format('create role %I nologin noinherit', role_name);
        end if;
        -- From PostgreSQL 16 on, being a member is not enough for SET ROLE. A superuser may do it always.
        if role_name = 'berth_app' and not pg_has_role(current_user, role_name,
          case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
        then
          execute format('grant %I to %I', role_name, current_user);
        end if;
        exit;
      exception
        when insufficient_privilege then
          raise notice 'role % is not available to %, which lacks CREATEROLE: the server acts as % itself',
            role_name, current_user, current_user;
          exit;
        -- internal_error: "tuple concurrently updated", another database granted the same role.
        when duplicate_object or unique_violation or internal_error then
          if attempt = 20 then
            raise;
          end if;
          perform pg_sleep(0.02);
      end;
    end loop;
  end loop;
end
$$;

-- These roles get rights on the tables, sequences and functions of later migrations by default. A migration revokes
-- rights again on a table whose rows must not change, such as the audit chain and the transition log.
do $$
begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    alter default privileges in schema public grant select, insert, update, delete on tables to berth_app;
    alter default privileges in schema public grant usage on sequences to berth_app;
    alter default privileges in schema public grant execute on functions to berth_app;
    grant select on schema_migration to berth_app;
  end if;
  if exists (select from pg_roles where rolname = 'berth_reader') then
    alter default privileges in schema public grant select on tables to berth_reader;
    grant select on schema_migration to berth_reader;
  end if;
end
$$;

-- Revokes the right of other roles to create tables in the schema public. Only the owner of the schema can do this.
-- From PostgreSQL 15 on, other roles do not have this right in a new database.
do $$
begin
  revoke create on schema public from public;
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke create on schema public from berth_app;
    grant usage on schema public to berth_app;
  end if;
  if exists (select from pg_roles where rolname = 'berth_reader') then
    grant usage on schema public to berth_reader;
  end if;
exception when insufficient_privilege then
  raise notice 'schema public belongs to another user: its rights are left as they are';
end
$$;
