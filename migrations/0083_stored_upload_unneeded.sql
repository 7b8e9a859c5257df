-- When maintenance first found that no upload and no image needs the bytes. A request may still be writing the bytes.
-- So a row without bytes is deleted an hour later (docs/instances.md, "Uploaded images").
alter table stored_upload add column unneeded_at timestamptz;
