-- Returns whether the node {server_uuid} offers the NIC tag {nic_tag}.
create or replace function guard_cn_offers_nic_tag(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_capacity where server_uuid = (args->>'server_uuid')::uuid
                    and report->'nic_tags' ? (args->>'nic_tag')) $$;
