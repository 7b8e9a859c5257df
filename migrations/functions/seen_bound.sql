-- Returns the lower bound of the UUIDv7s of a day (UTC): 48 bits of milliseconds, then zeros.
create or replace function seen_bound(day date) returns uuid language sql immutable strict as $$
  select (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $$;
