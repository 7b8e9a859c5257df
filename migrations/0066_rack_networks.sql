-- More networks in which machines boot, behind relays (docs/booting.md, "Racks behind relays"). A process of the
-- previous release writes no such networks, so the column has a default.
alter table boot_policy add column rack_networks jsonb not null default '[]';
-- The relay through which the last netboot request came. It selects the network of a machine's address.
alter table boot_client add column relay inet;
