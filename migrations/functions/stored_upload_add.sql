-- Records that bytes of a new upload may be in the image store.
create or replace function stored_upload_add() returns trigger language plpgsql as $$
begin
  insert into stored_upload values (new.id) on conflict do nothing;
  return null;
end $$;
