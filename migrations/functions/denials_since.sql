-- Returns the audit payload for a number of denials since `opened_at`.
create or replace function denials_since(opened_at timestamptz, denials bigint) returns jsonb language sql stable as $$
  select jsonb_build_object('denials', denials, 'since', opened_at, 'until', berth_now()) $$;
