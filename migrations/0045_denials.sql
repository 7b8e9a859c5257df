-- Denials are counted, so that a caller cannot make the audit chain grow by repeating a request. The first denial of a
-- caller and an action is audited at once. Later denials are audited as one sum a minute. A row that has counted no
-- denial for a minute is deleted.
create table denial_window (
  -- The caller and the action; for a login, also the account.
  key        text primary key,
  opened_at  timestamptz not null,
  -- The denials since opened_at, without the denial that was audited at that time.
  denials    bigint not null default 0 check (denials >= 0),
  -- request_id and audit are of the last denial.
  request_id text not null,
  audit      jsonb not null
) with (fillfactor = 50);
create index denial_window_age on denial_window (opened_at);

-- Adds a denial to the transition log, or a sum of denials if `sum` is given. The audit chain reads the transition log.
create function audit_denial(of_msg uuid, of_request text, of_audit jsonb, sum jsonb) returns void
language sql volatile as $$
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
  values ('request', of_request, of_msg, 1, 'deny', 'none', 'denied', of_msg, berth_now(),
          case when sum is null then of_audit
               else jsonb_set(of_audit, '{payload}', coalesce(of_audit->'payload', '{}') || sum) end)
  on conflict on constraint transition_one_writer do nothing $$;

create function denials_since(opened_at timestamptz, denials bigint) returns jsonb language sql stable as $$
  select jsonb_build_object('denials', denials, 'since', opened_at, 'until', berth_now()) $$;

create function count_denial(of_key text, window_s int, of_msg uuid, of_request text, of_audit jsonb) returns void
language plpgsql volatile as $$
declare
  counted denial_window;
begin
  loop
    insert into denial_window (key, opened_at, request_id, audit) values (of_key, berth_now(), of_request, of_audit)
      on conflict (key) do nothing;
    if found then
      perform audit_denial(of_msg, of_request, of_audit, null);
      return;
    end if;
    select * into counted from denial_window where key = of_key for update;
    -- Otherwise it was removed meanwhile.
    exit when found;
  end loop;
  if counted.opened_at > berth_now() - make_interval(secs => window_s) then
    update denial_window set denials = denials + 1, request_id = of_request, audit = of_audit where key = of_key;
    return;
  end if;
  perform audit_denial(of_msg, of_request, of_audit,
    case when counted.denials > 0 then denials_since(counted.opened_at, counted.denials + 1) end);
  update denial_window set opened_at = berth_now(), denials = 0, request_id = of_request, audit = of_audit
   where key = of_key;
end $$;

-- Audits the sums of ended windows, and deletes the windows that have counted no denial. Returns the number of ended
-- windows.
create function close_denials(window_s int) returns int language plpgsql volatile as $$
declare
  counted denial_window;
  closed  int := 0;
begin
  for counted in select * from denial_window where opened_at <= (select berth_now()) - make_interval(secs => window_s)
                  order by key for update skip locked loop
    closed := closed + 1;
    if counted.denials > 0 then
      perform audit_denial(gen_random_uuid(), counted.request_id, counted.audit,
        denials_since(counted.opened_at, counted.denials));
      update denial_window set opened_at = berth_now(), denials = 0 where key = counted.key;
    else
      delete from denial_window where key = counted.key;
    end if;
  end loop;
  return closed;
end $$;
