-- A silo and its default tenant refer to each other and are deleted in one commit. So both references must be checked
-- at the end of the commit. The silo's reference already is.
alter table tenant alter constraint tenant_silo_id_fkey deferrable initially deferred;
