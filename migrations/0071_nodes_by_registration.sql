-- The list of nodes, in the order of registration: a page reads its own rows only, not all nodes.
create index cn_by_registration on cn (registered_at, server_uuid);
