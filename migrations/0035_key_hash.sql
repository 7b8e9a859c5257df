-- The server finds a key by the hash of its secret. So the response time does not reveal whether a key id exists.
create index api_key_secret on api_key (secret_sha256);
