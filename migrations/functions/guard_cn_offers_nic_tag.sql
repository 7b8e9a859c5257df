-- Returns whether the node {server_uuid} offers the NIC tag {nic_tag} and reports a bridge of it. Without a bridge, the
-- node cannot carry public addresses: its network document has no external network.
create or replace function guard_cn_offers_nic_tag(args jsonb) returns boolean language sql volatile as $$
  select exists (
    select from cn_capacity c
      join cn_nic_tag t using (server_uuid)
     where c.server_uuid = (args->>'server_uuid')::uuid and c.report->'nic_tags' ? (args->>'nic_tag')
       and t.name = args->>'nic_tag' and t.bridge is not null) $$;
