-- The uploads whose bytes this database may delete from the image store (docs/instances.md, "Uploaded images"). A
-- server on an older copy of the database uses the same store, but does not know the later uploads. A trigger writes
-- the rows, so processes of the previous release write them too. There is no foreign key, because a row is needed after
-- its upload and its image are deleted.
create table stored_upload (id uuid primary key);

-- The body of this function is in migrations/functions.
create function stored_upload_add() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger stored_upload_of_new after insert on image_upload for each row execute function stored_upload_add();

insert into stored_upload
  select id from image_upload
  union select substr(source_url, 7)::uuid from image where source_url like 'berth:%'
  union select actor_id::uuid from transition where actor_kind = 'image-upload';
