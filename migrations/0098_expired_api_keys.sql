-- Maintenance looks for the keys that expired first, once a minute. Keys of nodes are not deleted for their age, and most
-- other keys have no expiry.
create index api_key_expiring on api_key (expires_at, id) where expires_at is not null and bound_to_cn is null;
