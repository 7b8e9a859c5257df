-- A key is found by the hash of its secret, which says nothing of who guesses and takes as long for an unknown id.
create index api_key_secret on api_key (secret_sha256);
