-- Ends all claims of the node {server_uuid}. If {except} is given, the claim with this id is kept. The caller must hold
-- the lock claims:<server_uuid>.
create or replace function effect_end_claims(args jsonb) returns void language plpgsql volatile as $$
declare
  gone record;
begin
  for gone in with ended as (delete from enrolment_claim where server_uuid = (args->>'server_uuid')::uuid
                                and id is distinct from (args->>'except')::uuid returning source_bucket)
              select source_bucket, count(*) as claims from ended group by source_bucket order by source_bucket loop
    perform berth_give_claims(gone.source_bucket, gone.claims, (args->>'site_max')::bigint,
                              (args->>'source_max')::bigint);
  end loop;
end $$;
