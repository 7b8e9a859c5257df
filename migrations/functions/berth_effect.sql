-- Calls an effect by its name.
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_effect(text, jsonb) returns void language plpgsql volatile as $$
begin
  case $1
  when 'claim_ended' then perform effect_claim_ended($2);
  when 'cn_network_changed' then perform effect_cn_network_changed($2);
  when 'cn_use' then perform effect_cn_use($2);
  when 'end_claims' then perform effect_end_claims($2);
  when 'external_network_changed' then perform effect_external_network_changed($2);
  when 'nics_changed' then perform effect_nics_changed($2);
  when 'quota_use' then perform effect_quota_use($2);
  when 'rebuild_admin_pool' then perform effect_rebuild_admin_pool($2);
  when 'unproven_ended' then perform effect_unproven_ended($2);
  when 'vpc_routes_gone' then perform effect_vpc_routes_gone($2);
  when 'webhook_queued' then perform effect_webhook_queued($2);
  when 'webhook_redelivered' then perform effect_webhook_redelivered($2);
  else
    execute format('select %I($1)', 'effect_' || $1) using $2;
  end case;
end $$;
