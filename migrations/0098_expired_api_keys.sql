-- Once a minute, maintenance looks for the keys that expired first. It does not delete expired keys of nodes, so the
-- index omits the keys of nodes. Most other keys have no expiry.
create index api_key_expiring on api_key (expires_at, id) where expires_at is not null and bound_to_cn is null;
