-- Numbers the jobs in the order in which they are queued.
create or replace function job_number() returns trigger language plpgsql as
  $$ begin new.seq := nextval('job_seq'); return new; end $$;
create or replace trigger job_number before insert on job for each row execute function job_number();
