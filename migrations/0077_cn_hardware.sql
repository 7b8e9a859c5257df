-- The hardware and the firmware of a node, as its BMC reports them (docs/booting.md, "Hardware and firmware").
create table cn_hardware (
  server_uuid uuid primary key references cn (server_uuid) on delete cascade,
  hardware    jsonb not null check (jsonb_typeof(hardware) = 'object'),
  read_at     timestamptz not null,
  read_by     text not null
);
