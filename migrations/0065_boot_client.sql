-- The last netboot request of each machine (docs/booting.md, "Netboot requests"). Its values are not authenticated.
create table boot_client (
  mac           text primary key references boot_record (mac) on delete cascade,
  arch          integer check (arch between 0 and 65535),
  vendor_class  text,
  user_class    text,
  guid          text check (guid ~ '^[0-9a-f]{32}$'),
  has_boot_file boolean not null,
  seen_at       timestamptz not null,
  seen_by       text not null
) with (fillfactor = 50);
create index boot_client_by_guid on boot_client (guid) where guid is not null;
