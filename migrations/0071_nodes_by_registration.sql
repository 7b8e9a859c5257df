-- For the list of nodes in the order of registration: a page reads only its own rows.
create index cn_by_registration on cn (registered_at, server_uuid);
