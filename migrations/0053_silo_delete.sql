-- A silo and its default tenant refer to each other and are deleted in one commit. So both references are checked at the
-- end of the commit; the one of the silo already is.
alter table tenant alter constraint tenant_silo_id_fkey deferrable initially deferred;
