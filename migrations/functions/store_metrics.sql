-- Stores the reported counters of instances as samples, at most one in `apart_s` seconds for each instance. Adds the
-- network bytes since the last report to the traffic of the current day (UTC). `jsons` has one list of counters for
-- each of `nodes`. Ignores counters of instances that are not on the reporting node. A repeated report adds no traffic.
-- If a list names an instance twice, in two spellings of its id, only one of the two entries counts.
create or replace function store_metrics(nodes uuid[], jsons text[], apart_s int) returns void
language plpgsql volatile as $$
declare
  pass_at  constant timestamptz := berth_now();
  today    constant date := (pass_at at time zone 'UTC')::date;
  reported jsonb;
begin
  select jsonb_agg(to_jsonb(m) || jsonb_build_object('server_uuid', u.node, 'tenant_id', i.tenant_id,
                                                     'project_id', i.project_id) order by m.instance_id)
    into reported
    from unnest(nodes, jsons) u(node, json), lateral (
           select distinct on (m.instance_id) m.*
             from jsonb_to_recordset(u.json::jsonb) m(instance_id uuid, made_at timestamptz,
                    cpu_seconds double precision, memory_bytes bigint, disk_read_bytes bigint,
                    disk_written_bytes bigint, network_received_bytes bigint, network_sent_bytes bigint,
                    simulated boolean)) m, instance i
   where i.id = m.instance_id and i.host_cn_uuid = u.node;
  if reported is null then return; end if;

  insert into instance_metrics
    select m.instance_id, pass_at, m.cpu_seconds, m.memory_bytes, m.disk_read_bytes, m.disk_written_bytes,
           m.network_received_bytes, m.network_sent_bytes, coalesce(m.simulated, false)
      from jsonb_populate_recordset(null::instance_metrics, reported) m
     where not exists (select from instance_metrics s
                        where s.instance_id = m.instance_id and s.at > pass_at - make_interval(secs => apart_s))
  on conflict do nothing;

  -- Creates the missing rows and locks the rows of all reported instances, in the order of their ids, before it
  -- computes how much each counter has grown. So two processes cannot count the same bytes.
  insert into usage_counter (instance_id, server_uuid, cpu_seconds, network_received_bytes, network_sent_bytes)
    select r.instance_id, r.server_uuid, 0, 0, 0 from jsonb_populate_recordset(null::usage_counter, reported) r
  on conflict do nothing;
  perform from usage_counter c
    where c.instance_id = any (select r.instance_id from jsonb_populate_recordset(null::usage_counter, reported) r)
    order by c.instance_id for update;

  with fresh as (
    select r.*, c as before, r.cpu_seconds < c.cpu_seconds or r.network_received_bytes < c.network_received_bytes
                or r.network_sent_bytes < c.network_sent_bytes or r.server_uuid <> c.server_uuid as is_new_run
      from jsonb_populate_recordset(null::usage_counter, reported) r join usage_counter c using (instance_id)
     -- Ignores an older report of the same node that arrived late. A report that is older by an hour or more counts:
     -- then the node's clock was set back.
     where not coalesce(r.server_uuid = c.server_uuid and r.made_at <= c.made_at
                        and r.made_at > c.made_at - interval '1 hour', false)),
  kept as (
    update usage_counter c
       set server_uuid = f.server_uuid, made_at = f.made_at, cpu_seconds = f.cpu_seconds,
           network_received_bytes = f.network_received_bytes, network_sent_bytes = f.network_sent_bytes
      from fresh f where c.instance_id = f.instance_id)
  insert into usage_traffic as t (instance_id, day, tenant_id, project_id, network_in_bytes, network_out_bytes)
    select f.instance_id, today, (o->>'tenant_id')::uuid, (o->>'project_id')::uuid, d.received, d.sent
      from fresh f
      join jsonb_array_elements(reported) o on (o->>'instance_id')::uuid = f.instance_id,
           lateral (select f.network_received_bytes
                             - case when is_new_run then 0 else (f.before).network_received_bytes end as received,
                           f.network_sent_bytes
                             - case when is_new_run then 0 else (f.before).network_sent_bytes end as sent) d
     where d.received > 0 or d.sent > 0
     order by f.instance_id
  on conflict (instance_id, day) do update
    set network_in_bytes = t.network_in_bytes + excluded.network_in_bytes,
        network_out_bytes = t.network_out_bytes + excluded.network_out_bytes;
end $$;
