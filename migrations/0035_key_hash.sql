-- The server finds a key by the hash of its secret. The response time does not reveal whether the id of a key exists.
create index api_key_secret on api_key (secret_sha256);
