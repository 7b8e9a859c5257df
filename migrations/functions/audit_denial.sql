-- Adds a denial to the transition log, from which the audit chain reads the denial. `sum`, if not null, counts several
-- denials and is added to the payload of the audit entry.
create or replace function audit_denial(of_msg uuid, of_request text, of_audit jsonb, sum jsonb) returns void
language sql volatile as $$
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
  values ('request', of_request, of_msg, 1, 'deny', 'none', 'denied', of_msg, berth_now(),
          case when sum is null then of_audit
               else jsonb_set(of_audit, '{payload}', coalesce(of_audit->'payload', '{}') || sum) end)
  on conflict on constraint transition_one_writer do nothing $$;
