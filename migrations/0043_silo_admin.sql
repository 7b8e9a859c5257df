-- A silo is one customer, and its tenants are the customer's departments. A member of a tenant acts in that tenant.
-- Only the capability silo-admin gives access to the silo: its tenants, and the images and SSH keys of the whole silo.
alter table user_account drop constraint user_capabilities, add constraint user_capabilities check
  (capabilities <@ array['system-read', 'system-operate', 'system-config-write', 'storage-admin', 'silo-admin']);
