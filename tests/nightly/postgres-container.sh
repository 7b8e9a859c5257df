# The start of a PostgreSQL container with the variables of the image that compose.yaml names.
set -eu
data=/var/lib/postgresql/data
bin=/usr/lib/postgresql/15/bin
as="setpriv --reuid postgres --regid postgres --clear-groups"
if [ ! -s "$data/PG_VERSION" ]; then
  install -d -o postgres -g postgres -m 700 "$data"
  printf %s "$POSTGRES_PASSWORD" > /tmp/password
  chmod 644 /tmp/password
  $as $bin/initdb -D "$data" -U "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "create database $POSTGRES_DB" | $as $bin/postgres --single -D "$data" postgres
fi
exec $as $bin/postgres -D "$data" -c "listen_addresses=*" -c unix_socket_directories=/tmp
