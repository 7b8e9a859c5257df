-- Increases the generation of the VPCs of the NICs {nic_ids}.
create or replace function effect_nics_changed(args jsonb) returns void language sql volatile as $$
  insert into vpc_change (vpc_id)
    select distinct vpc_id from nic where id in (select n::uuid from jsonb_array_elements_text(args->'nic_ids') n) $$;
